"""A request that waits until it is called back: by a signed link, whenever that is called."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import aiohttp
import pytest
from aiohttp import web

from holdfast import Holdfast, Workflow, expr
from holdfast.activities import FlowSendHttpRequest, Sequence, SetOutput
from tests.integration.server.conftest import Caller, Serve


class Partner:
    """Somebody who is asked for something and answers later, by the link; or at once."""

    def __init__(self) -> None:
        self.url = ""
        self.links: asyncio.Queue[str] = asyncio.Queue()
        self.at_once: Any = None

    async def asked(self, request: web.Request) -> web.Response:
        body = await request.json()
        link = request.headers["X-Callback-Url"]
        assert body == {"job": 7, "reply_to": link}
        if self.at_once is not None:
            async with aiohttp.ClientSession() as session, session.post(self.here(link), json=self.at_once) as answer:
                assert answer.status == 200
        await self.links.put(link)
        return web.Response(status=202)

    def here(self, link: str) -> str:
        return link.replace("http://server.example", self.server)

    server = ""


@pytest.fixture
async def partner() -> AsyncIterator[Partner]:
    place = Partner()
    app = web.Application()
    app.router.add_post("/jobs", place.asked)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    place.url = f"http://127.0.0.1:{site._server.sockets[0].getsockname()[1]}/jobs"  # type: ignore[union-attr]
    yield place
    await runner.cleanup()


def asking(url: str, patience: timedelta) -> Workflow:
    return Workflow(
        Sequence(
            FlowSendHttpRequest(
                url=url,
                method="POST",
                content={"job": 7},
                expected_status_codes=[202],
                wait_for_callback=True,
                callback_field="reply_to",
                callback_timeout=patience,
                callback="answer",
            ),
            SetOutput("answer", expr("answer")),
        ),
        id="asking",
        outputs={"answer": object},
        variables={"answer": None},
    )


async def hosted(serve: Serve, partner: Partner, patience: timedelta = timedelta(hours=1)) -> Caller:
    engine = Holdfast(
        store="memory://",
        entry_points=False,
        workflows=[asking(partner.url, patience)],
        public_url="http://server.example",
        http_private_allowed="127.0.0.1",
    )
    api = await serve(engine, auth=True)
    partner.server = api.url
    return api


async def ended(api: Caller, identity: str) -> Any:
    async with asyncio.timeout(20):
        return await api.engine.runtime.wait_at_rest(identity)


async def test_the_link_wakes_the_workflow_without_signing_in(serve: Serve, partner: Partner) -> None:
    api = await hosted(serve, partner)
    answer = await api.engine.runtime.start(asking(partner.url, timedelta(hours=1)))
    assert answer.result is not None

    async with asyncio.timeout(20):
        link = partner.here(await partner.links.get())
    called = await api.session.post(link, json={"done": True})
    assert called.status == 200

    result = await ended(api, answer.result.instance_id)
    assert (result.status, result.outputs) == ("finished", {"answer": {"done": True}})
    forged = await api.session.post(link[:-3] + "AAA", json={})
    assert forged.status == 401


async def test_a_partner_who_calls_before_he_has_answered_is_heard(serve: Serve, partner: Partner) -> None:
    partner.at_once = {"quick": 1}
    api = await hosted(serve, partner)

    answer = await api.engine.runtime.start(asking(partner.url, timedelta(hours=1)))
    assert answer.result is not None

    result = await ended(api, answer.result.instance_id)
    assert result.outputs == {"answer": {"quick": 1}}


async def test_nobody_calls_in_time(serve: Serve, partner: Partner) -> None:
    api = await hosted(serve, partner, timedelta(milliseconds=50))

    answer = await api.engine.runtime.start(asking(partner.url, timedelta(milliseconds=50)))
    assert answer.result is not None

    result = await ended(api, answer.result.instance_id)
    assert result.outputs == {"answer": None}
    journal = await api.engine.runtime.journal(answer.result.instance_id)
    assert any("Timeout" in str(entry.data) for entry in journal)
