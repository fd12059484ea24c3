"""What happens is heard: in this process, and outside by events that leave with the commit that they tell of."""

from __future__ import annotations

import asyncio
import hmac
import json
import threading
from collections.abc import Iterator, Mapping
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from holdfast import Holdfast, Workflow
from holdfast.activities import Event, Fault, Sequence
from holdfast.model.requests import DispatchDefinition, DispatchInstance
from holdfast.ports import LifecycleEvent
from holdfast.runtime.outbox import relay
from holdfast.runtime.outbox.relay import FunctionOutlet
from holdfast.runtime.outbox.webhook import Webhook
from tests.support.node import node_of

SOON = timedelta(seconds=20)


def waiting() -> Workflow:
    return Workflow(Sequence(Event("go")), id="waiting")


async def test_an_application_tells_its_own_process() -> None:
    heard: list[str] = []
    later: asyncio.Queue[str] = asyncio.Queue()

    async def slow(name: str, fields: Mapping[str, Any]) -> None:
        await later.put(f"{name} {fields['definition_id']}")

    async with Holdfast(store="memory://", workflows=[waiting()], entry_points=False) as app:
        end = app.on(lambda name, _: heard.append(name))
        app.on(slow, "instance.finished")
        started = await app.runtime.dispatcher.dispatch(DispatchDefinition(definition_id="waiting"), wait=SOON)
        assert started.instance_id is not None
        await app.runtime.dispatcher.dispatch(DispatchInstance(instance_id=started.instance_id), wait=SOON)
        async with asyncio.timeout(20):
            assert await later.get() == "instance.finished waiting"
        end()
        end()

    told = [name for name in heard if name.startswith(("request.", "instance.", "segment."))]
    assert told == [
        "request.dispatching",
        "request.dispatched",
        "instance.started",
        "segment.committed",
        "instance.suspended",
        "request.dispatching",
        "request.dispatched",
        "segment.committed",
        "instance.finished",
    ]


class Door:
    """A web server that refuses the first requests."""

    def __init__(self, refusals: int) -> None:
        self.refusals = refusals
        self.got: list[tuple[dict[str, str], bytes]] = []
        self.enough = threading.Event()
        door = self

        class Answering(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                door.refusals -= 1
                status = 503 if door.refusals >= 0 else 204
                if status == 204:
                    door.got.append((dict(self.headers), body))
                self.send_response(status)
                self.end_headers()
                if status == 204 and json.loads(body)["event"] == "instance.faulted":
                    door.enough.set()

            def log_message(self, *args: object) -> None:
                return

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Answering)
        self.url = f"http://127.0.0.1:{self.server.server_port}/hook"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


@pytest.fixture
def door() -> Iterator[Door]:
    door = Door(refusals=2)
    yield door
    door.server.shutdown()
    door.server.server_close()


async def test_a_webhook_gets_every_event_that_it_wants_signed(
    store_url: str, door: Door, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(relay, "BACKOFF_MAX", timedelta(milliseconds=10))
    hook = Webhook(door.url, events=("instance.started", "instance.faulted"), secret="s")
    failing = Workflow(Fault("on purpose"), id="failing")
    async with Holdfast(store=store_url, workflows=[failing], outlets=[hook], node="hooked", entry_points=False) as app:
        answer = await app.runtime.dispatcher.dispatch(
            DispatchDefinition(definition_id="failing", correlation_id="c", principal="ada")
        )
        async with asyncio.timeout(30):
            await asyncio.to_thread(door.enough.wait, 30)
            while (await app.runtime.store.stats("")).outbox:
                await node_of(app.runtime).relay.deliver()
                await asyncio.sleep(0.01)

    told = [json.loads(body) for _, body in door.got]
    mine = {item["event"]: item for item in told if item["instance_id"] == answer.instance_id}
    assert set(mine) == {"instance.started", "instance.faulted"}
    fault = mine["instance.faulted"]
    assert (fault["status"], fault["correlation_id"], fault["principal"]) == ("faulted", "c", "ada")
    assert fault["data"]["incidents"]
    for headers, body in door.got:
        assert headers["X-Holdfast-Signature"] == f"sha256={hmac.new(b's', body, 'sha256').hexdigest()}"


async def test_an_event_that_was_not_delivered_is_delivered_by_another_node(cluster: Any) -> None:
    got: asyncio.Queue[LifecycleEvent] = asyncio.Queue()
    first = await cluster.node("a", outlets=(FunctionOutlet("bus", _broken),))
    second = await cluster.node("b", outlets=(FunctionOutlet("bus", got.put),))
    await first.start(waiting())

    assert await node_of(first).relay.deliver() == 0
    async with asyncio.timeout(20):
        while got.qsize() < 3:
            await node_of(second).relay.deliver()
            await asyncio.sleep(0.01)

    events = [got.get_nowait() for _ in range(got.qsize())]
    assert sorted(item.event for item in events) == ["instance.started", "instance.suspended", "segment.committed"]
    assert len({item.id for item in events}) == 3
    assert (await first.store.stats(cluster.tenant)).outbox == 0


async def _broken(event: LifecycleEvent) -> None:
    raise ConnectionError("the bus is down")
