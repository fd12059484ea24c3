"""Live connections under the limits of connections."""

from __future__ import annotations

import asyncio

import aiohttp

from holdfast.engine import Holdfast
from holdfast.server.protocol.config import MESSAGE_BYTES_MAX
from tests.integration.server.conftest import Serve
from tests.support.raw_http import exchanged

HEALTH = b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n"


async def test_a_live_connection_counts_until_it_closes(serve: Serve) -> None:
    api = await serve(Holdfast(store="memory://", entry_points=False, connections_max=1))

    async with api.session.ws_connect(f"{api.url}/api/live"):
        assert (await exchanged(api.url, b"")).code == "connections.too_many"

    async with asyncio.timeout(20):
        while (await exchanged(api.url, HEALTH)).status != 200:  # noqa: ASYNC110 - a server cannot set our event
            await asyncio.sleep(0)


async def test_a_large_message_of_a_stranger_is_not_collected(serve: Serve) -> None:
    api = await serve(auth=True)

    async with api.session.ws_connect(f"{api.url}/api/live") as socket:
        await socket.send_str("x" * (MESSAGE_BYTES_MAX + 1))
        message = await socket.receive(timeout=20)

    assert message.type is aiohttp.WSMsgType.CLOSE
    assert message.data == aiohttp.WSCloseCode.MESSAGE_TOO_BIG
