"""Clients that send too much, too slowly, or nothing at all, over real sockets."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from datetime import timedelta
from typing import Any

import pytest

from holdfast.engine import Holdfast
from holdfast.server.protocol.http import PIPELINE_MAX
from tests.integration.server.conftest import Caller, Serve
from tests.support.raw_http import RawClient, exchanged

HEAD = b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n"
POST = b"POST /api/auth/login HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
SHORT = timedelta(milliseconds=200)


async def bounded(serve: Serve, *, trust_proxy: str = "127.0.0.1", **settings: Any) -> Caller:
    return await serve(
        Holdfast(store="memory://", entry_points=False, **settings), auth=True, config={"trust_proxy": trust_proxy}
    )


async def is_served(api: Caller) -> bool:
    return (await exchanged(api.url, HEAD + b"\r\n")).status == 200


async def test_headers_are_counted_while_they_arrive(serve: Serve) -> None:
    api = await bounded(serve)

    async with RawClient.connected(api.url) as client:
        await client.send(HEAD)
        sending = asyncio.create_task(_send_headers(client))
        answer = await client.answer()
        sending.cancel()

    assert (answer.status, answer.code) == (431, "head.too_large")
    assert await is_served(api)


async def _send_headers(client: RawClient) -> None:
    for number in range(50_000):
        await client.send(b"x-%d: %s\r\n" % (number % 50, b"a" * 4_000))


async def test_a_header_without_an_end_is_refused(serve: Serve) -> None:
    api = await bounded(serve)

    async with RawClient.connected(api.url) as client:
        await client.send(HEAD + b"x-long: ")
        for _ in range(100):
            await client.send(b"a" * 100_000)
        answer = await client.answer()

    assert (answer.status, answer.code) == (431, "head.too_large")


async def test_a_long_address_is_refused(serve: Serve) -> None:
    api = await bounded(serve, request_head_bytes_max=2_000)

    answer = await exchanged(api.url, b"GET /health?" + b"a" * 3_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n")

    assert (answer.status, answer.code) == (431, "head.too_large")


async def test_headers_are_few(serve: Serve) -> None:
    api = await bounded(serve, request_headers_max=20)

    answer = await exchanged(api.url, HEAD + b"".join(b"x-%d: 1\r\n" % number for number in range(20)) + b"\r\n")

    assert (answer.status, answer.code) == (431, "head.too_many")


@pytest.mark.parametrize("sent", [b"", b"\r\n\r\n", b"GET", HEAD, HEAD + b"x-slow: "])
async def test_a_head_has_a_deadline(serve: Serve, sent: bytes) -> None:
    api = await bounded(serve, request_head_time=SHORT)

    async with RawClient.connected(api.url) as client:
        await client.send(sent)
        said = await client.closed()

    assert said == b"" or said.startswith(b"HTTP/1.1 408 ")


async def test_the_next_head_of_a_connection_has_a_deadline_too(serve: Serve) -> None:
    api = await bounded(serve, request_head_time=SHORT)

    async with RawClient.connected(api.url) as client:
        await client.send(HEAD + b"\r\n")
        assert (await client.answer()).status == 200
        await client.send(HEAD)
        assert (await client.answer()).code == "head.too_slow"


async def test_line_ends_do_not_keep_a_connection(serve: Serve) -> None:
    api = await bounded(serve, request_head_time=SHORT)

    async with RawClient.connected(api.url) as client:
        await client.send(HEAD + b"\r\n")
        assert (await client.answer()).status == 200
        await client.send(b"\r\n")
        assert await client.closed() == b""


CHUNKED = POST + b"Transfer-Encoding: chunked\r\n\r\n"


@pytest.mark.parametrize(
    ("begin", "more", "code"),
    [
        (b"0\r\n", b"x-1: " + b"a" * 4_000 + b"\r\n", "head.too_large"),
        (b"0\r\n", b"x-1: 1\r\n", "head.too_many"),
        (b"0\r\nx-1: ", b"a" * 50_000, "head.too_large"),
        (b"1;x=", b"a" * 50_000, "head.too_large"),
    ],
)
async def test_what_is_not_data_of_a_body_is_counted_too(serve: Serve, begin: bytes, more: bytes, code: str) -> None:
    api = await bounded(serve)

    async with RawClient.connected(api.url) as client:
        await client.send(CHUNKED + begin)
        sending = asyncio.create_task(_send_again(client, more))
        answer = await client.answer()
        sending.cancel()

    assert (answer.status, answer.code) == (431, code)
    assert await is_served(api)


async def _send_again(client: RawClient, data: bytes) -> None:
    for _ in range(2_000):
        await client.send(data)


async def test_a_body_may_have_trailers(serve: Serve) -> None:
    api = await bounded(serve)

    answer = await exchanged(api.url, CHUNKED + b"2\r\n{}\r\n0\r\nx-sum: 1\r\n\r\n")

    assert answer.status == 422


@pytest.mark.parametrize("framing", [b"Content-Length: 1000\r\n\r\n{", b"Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n"])
async def test_a_body_has_a_deadline(serve: Serve, framing: bytes) -> None:
    api = await bounded(serve, request_body_time=SHORT)

    answer = await exchanged(api.url, POST + framing)

    assert (answer.status, answer.code) == (408, "body.too_slow")
    assert await is_served(api)


async def test_bytes_of_a_body_extend_its_deadline(serve: Serve) -> None:
    api = await bounded(serve, request_body_time=SHORT, request_body_rate=10)
    body = b'{"user": "nobody", "password": "wrong-password"}'

    async with RawClient.connected(api.url) as client:
        await client.send(POST + b"Content-Length: %d\r\n\r\n" % len(body) + body[:20])
        await asyncio.wait_for(_passed(SHORT * 3), 20)  # The deadline without the extension.
        await client.send(body[20:])
        answer = await client.answer()

    assert answer.status == 401


async def _passed(time: timedelta) -> None:
    """The deadline under test runs on the loop's own clock."""
    done = asyncio.Event()
    asyncio.get_running_loop().call_later(time.total_seconds(), done.set)
    await done.wait()


async def test_a_refused_body_is_not_read_to_its_end(serve: Serve) -> None:
    api = await bounded(serve)

    async with RawClient.connected(api.url) as client:
        await client.send(b"POST /api/definitions/import HTTP/1.1\r\nHost: x\r\nContent-Length: 9000000\r\n\r\n--x")
        assert (await client.answer()).status == 401
        assert await client.closed() == b""


async def test_a_body_that_ends_after_its_answer_leaves_the_connection_usable(serve: Serve) -> None:
    api = await bounded(serve)

    async with RawClient.connected(api.url) as client:
        await client.send(b"POST /api/definitions/import HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n--")
        assert (await client.answer()).status == 401
        await client.send(b"abc" + HEAD + b"\r\n")
        assert (await client.answer()).status == 200


async def test_connections_in_all_are_limited_and_come_free(serve: Serve) -> None:
    api = await bounded(serve, connections_max=5)
    await api.session.close()

    async with AsyncExitStack() as stack:
        for _ in range(5):
            client = await stack.enter_async_context(RawClient.connected(api.url))
            await client.send(HEAD + b"\r\n")
            assert (await client.answer()).status == 200
        async with RawClient.connected(api.url) as sixth:
            answer = await sixth.answer()
        assert (answer.status, answer.code) == (503, "connections.too_many")
        assert answer.headers["retry-after"] == "5"

    await _until_free(api)


async def _until_free(api: Caller) -> None:
    async with asyncio.timeout(20):
        while not await is_served(api):  # noqa: ASYNC110 - a server cannot set our event
            await asyncio.sleep(0)


async def test_connections_of_one_address_are_limited(serve: Serve) -> None:
    api = await bounded(serve, trust_proxy="10.0.0.1", address_connections_max=2)

    async with RawClient.connected(api.url), RawClient.connected(api.url):
        assert (await exchanged(api.url, b"")).code == "connections.too_many"


async def test_connections_of_a_trusted_proxy_are_not(serve: Serve) -> None:
    api = await bounded(serve, trust_proxy="127.0.0.0/8", address_connections_max=2)

    async with RawClient.connected(api.url), RawClient.connected(api.url):
        assert await is_served(api)


async def test_a_pipeline_is_short(serve: Serve) -> None:
    api = await bounded(serve)

    async with RawClient.connected(api.url) as client:
        await client.send((HEAD + b"\r\n") * (PIPELINE_MAX + 100))
        said = await client.closed()

    assert said.count(b"HTTP/1.1 200") <= PIPELINE_MAX + 1


async def test_a_short_pipeline_is_answered_in_order(serve: Serve) -> None:
    api = await bounded(serve)

    async with RawClient.connected(api.url) as client:
        await client.send((HEAD + b"\r\n") * 5 + b"GET /nowhere HTTP/1.1\r\nHost: x\r\n\r\n")
        statuses = [(await client.answer()).status for _ in range(6)]

    assert statuses == [200] * 5 + [404]


@pytest.mark.parametrize(
    "sent",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET /\x00 HTTP/1.1\r\n\r\n",
        POST + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\n",
        POST + b"Content-Length: -1\r\n\r\n",
        POST + b"Content-Length: 10\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        POST + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"GET /health HTTP/1.1\r\nno colon\r\n\r\n",
    ],
)
async def test_what_is_not_http_is_answered_and_closed(serve: Serve, sent: bytes) -> None:
    api = await bounded(serve)

    async with RawClient.connected(api.url) as client:
        await client.send(sent)
        answer = await client.answer()
        await client.closed()

    assert (answer.status, answer.code) == (400, "request.malformed")
    assert await is_served(api)


async def test_a_client_that_does_not_read_is_cut_off(serve: Serve) -> None:
    api = await bounded(serve, response_stall_time=SHORT, connections_max=1)
    ask = b"GET /api/openapi.json HTTP/1.1\r\nHost: x\r\n\r\n"

    async with RawClient.connected(api.url) as client:
        await client.send(ask * PIPELINE_MAX)  # Megabytes of responses, of which the client reads none.
        assert (await exchanged(api.url, b"")).code == "connections.too_many"
        await _until_free(api)
