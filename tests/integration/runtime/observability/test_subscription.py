"""What happens is heard: in this process, and outside by events that leave with the commit that they tell of."""

from __future__ import annotations

import asyncio
import hmac
import json
import threading
import uuid
from collections.abc import Iterator, Mapping
from contextlib import closing
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from holdfast import Holdfast, Workflow, activity
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


async def test_an_application_hears_only_its_own_tenant(store_url: str) -> None:
    """Two applications in one process, on one store, each with a tenant of its own."""
    heard: list[tuple[str, str]] = []
    engine = Holdfast(entry_points=False)
    store = engine.store(store_url)
    acme, other = (f"{name}-{uuid.uuid4().hex[:8]}" for name in ("acme", "other"))

    async with (
        Holdfast(store=store, tenant=acme, workflows=[waiting()], node=acme, entry_points=False) as first,
        Holdfast(store=store, tenant=other, workflows=[waiting()], node=other, entry_points=False) as second,
    ):
        first.on(lambda _, fields: heard.append(("own", fields["tenant"])))
        first.on(lambda _, fields: heard.append(("named", fields["tenant"])), tenant=other)
        first.on(lambda _, fields: heard.append(("all", fields["tenant"])), tenant="*")
        for app in (first, second):
            started = await app.runtime.dispatcher.dispatch(DispatchDefinition(definition_id="waiting"), wait=SOON)
            assert started.instance_id is not None
            await app.runtime.dispatcher.dispatch(DispatchInstance(instance_id=started.instance_id), wait=SOON)
            await app.runtime.stimuli.event("nobody waits for this", wait=SOON)
    engine.close()

    assert {tenant for listener, tenant in heard if listener == "own"} == {acme}
    assert {tenant for listener, tenant in heard if listener == "named"} == {other}
    assert {tenant for listener, tenant in heard if listener == "all"} >= {acme, other}


async def test_the_runner_of_an_application_belongs_to_its_tenant() -> None:
    heard: list[str] = []
    with closing(Holdfast(tenant="acme", entry_points=False)) as engine:
        end = engine.on(lambda _, fields: heard.append(fields["tenant"]))
        await engine.runner.run(waiting())
        end()

    assert set(heard) == {"acme"}


@activity
async def endless() -> None:
    await asyncio.Event().wait()


async def test_a_canceled_effect_is_no_fault(store_url: str) -> None:
    """Cancel logged the warning `effect.faulted` for an effect that did nothing wrong."""
    heard: asyncio.Queue[tuple[str, Mapping[str, Any]]] = asyncio.Queue()
    work = Workflow(endless.bind(), id="endless")
    async with (
        asyncio.timeout(30),
        Holdfast(store=store_url, tenant=uuid.uuid4().hex, workflows=[work], entry_points=False) as app,
    ):
        app.on(lambda *event: heard.put_nowait(event), "effect.started", "effect.canceled", "effect.faulted")
        started = await app.runtime.dispatcher.dispatch(DispatchDefinition(definition_id="endless"))
        assert (await heard.get())[0] == "effect.started"
        await app.runtime.cancel(str(started.instance_id))
        name, fields = await heard.get()

    assert (name, fields["cause"]) == ("effect.canceled", "canceled")


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
