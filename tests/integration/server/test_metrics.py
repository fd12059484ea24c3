"""What Prometheus sees of a server that did something."""

from __future__ import annotations

import asyncio
import math
from datetime import timedelta
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from holdfast import Holdfast, Workflow, activity, telemetry
from holdfast.activities import Delay, Event, HttpEndpoint, Sequence, WriteHttpResponse, WriteLine
from holdfast.errors import StoreUnavailable
from holdfast.identity.accounts import OUTAGE_CACHE_TIME, PRINCIPAL_CACHE_TIME
from holdfast.ports import LifecycleEvent
from holdfast.runtime.observability import metrics
from holdfast.runtime.outbox.relay import FunctionOutlet
from tests.integration.server.conftest import Caller, Serve


@activity
async def stumble() -> None:
    raise ConnectionError("no way")


waiting = Workflow(Sequence(WriteLine("a"), Delay(timedelta(milliseconds=1)), Event("go")), id="waiting")
broken = Workflow(stumble.bind(), id="broken")
answering = Workflow(
    Sequence(HttpEndpoint(path="hello", can_start=True), WriteHttpResponse(content="hi")), id="answering"
)


async def scraped(api: Caller, **more: Any) -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
    answer = await api.ask("GET", "/metrics", **more)
    assert answer.status == 200, answer.body
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(answer.body.decode())
        for sample in family.samples
    }


def key(name: str, **labels: str) -> tuple[str, frozenset[tuple[str, str]]]:
    return f"holdfast_{name}", frozenset(labels.items())


async def test_what_happened_is_counted(serve: Serve) -> None:
    engine = Holdfast(store="memory://", entry_points=False, workflows=[waiting, broken, answering])
    api = await serve(engine)
    runtime = api.engine.runtime
    first, second = await runtime.start(waiting), await runtime.start(broken)
    assert first.result is not None
    assert second.result is not None
    await runtime.wait_at_rest(second.result.instance_id)
    await api.ask("GET", "/workflows/hello")
    async with asyncio.timeout(20):
        seen = -1
        while [mark.name for mark in (await runtime.read(first.result.instance_id)).bookmarks] != ["Event"]:
            seen = await runtime.store.wait_for_change(seen, timedelta(seconds=1))

    found = await scraped(api)

    assert found[key("instance_events_total", event="started")] == 3
    assert found[key("instance_events_total", event="faulted")] == 1
    assert found[key("instances", status="suspended")] == 1
    assert found[key("instances", status="finished")] == 1
    assert found[key("activities_total", type="WriteLine")] == 1
    assert found[key("activities_total", type="WriteHttpResponse")] == 1
    assert found[key("effects_total", type="stumble", outcome="faulted")] == 1
    assert found[key("effect_seconds_count", type="stumble")] == 1
    assert found[key("bursts_total")] >= 4
    assert found[key("burst_seconds_count")] == found[key("bursts_total")]
    assert found[key("work_taken_total", kind="timer")] == 1
    assert found[key("work_late_seconds_count", kind="timer")] == 1
    assert found[key("bookmarks")] == 1
    assert found[key("incidents_open")] == 1
    assert found[key("nodes_alive")] == 1
    assert found[key("queue_depth")] == 0
    assert found[key("outbox_age_seconds")] == 0
    assert found[key("process_resident_memory_bytes")] > 0


async def test_the_age_of_what_still_has_to_leave_is_shown(serve: Serve) -> None:
    async def refuse(event: LifecycleEvent) -> None:
        raise ConnectionError("nobody there")

    outlet = FunctionOutlet("bus", refuse, events=("instance.started",))
    engine = Holdfast(store="memory://", entry_points=False, outlets=[outlet], worker=False, workflows=[waiting])
    api = await serve(engine)
    await api.engine.runtime.start(waiting)
    await api.engine.runtime.store.wait_for_change(0, timedelta(milliseconds=1))

    found = await scraped(api)

    assert found[key("outbox_depth")] == 1
    assert found[key("outbox_age_seconds")] > 0


async def test_who_may_scrape(serve: Serve) -> None:
    api = await serve(Holdfast(store="memory://", entry_points=False), auth=True)
    accounts = api.app.backend.accounts
    _, viewer = await accounts.keys.add("prometheus", roles=["viewer"])
    _, worker = await accounts.keys.add("worker", roles=["worker"])

    assert (await api.ask("GET", "/metrics")).status == 401
    assert (await api.ask("GET", "/metrics", headers={"X-Api-Key": worker})).status == 403
    assert await scraped(api, headers={"Authorization": f"Bearer {viewer}"})


async def test_a_server_that_closed_listens_no_more(serve: Serve) -> None:
    before = list(telemetry.listeners)  # Mounted applications of other tests are never closed.
    api = await serve(Holdfast(store="memory://", entry_points=False))
    assert len(telemetry.listeners) > len(before)
    await api.app.backend.close()

    assert telemetry.listeners == before


async def test_while_the_store_is_away_the_process_is_told_of_and_the_store_is_not(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(metrics, "STORE_EVERY", timedelta(0))
    suspended = Workflow(Event("go"), id="suspended")  # no timer: nothing runs between two scrapes
    api = await serve(Holdfast(store="memory://", entry_points=False, workflows=[suspended]))
    await api.engine.runtime.start(suspended)
    before = await scraped(api)

    async def away(*_: Any) -> None:
        raise StoreUnavailable("The store is unavailable.")

    with monkeypatch.context() as outage:
        outage.setattr(api.engine.runtime.store, "stats", away)
        during = await scraped(api)
    after = await scraped(api)

    assert [found[key("store_up")] for found in (before, during, after)] == [1, 0, 1]
    assert during[key("bursts_total")] == before[key("bursts_total")] > 0
    assert math.isnan(during[key("queue_depth")])
    assert key("instances", status="suspended") not in during
    assert after[key("instances", status="suspended")] == before[key("instances", status="suspended")]


async def test_while_the_store_is_away_a_scraper_that_it_has_known_is_let_in(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(metrics, "STORE_EVERY", timedelta(0))
    api = await serve(Holdfast(store="memory://", entry_points=False), auth=True)
    accounts, later = api.app.backend.accounts, [timedelta()]
    monkeypatch.setattr(accounts, "_now", lambda: api.engine.clock.now() + sum(later, timedelta()))
    keys = [
        await accounts.keys.add(name, roles=[role])
        for name, role in (("a", "viewer"), ("b", "worker"), ("c", "viewer"))
    ]
    viewer, worker, stranger = ({"X-Api-Key": text} for _, text in keys)
    await scraped(api, headers=viewer)
    assert (await api.ask("GET", "/metrics", headers=worker)).status == 403

    async def away(*_: Any) -> None:
        raise StoreUnavailable("The store is unavailable.")

    for name in ("get_record", "stats"):
        monkeypatch.setattr(api.engine.runtime.store, name, away)
    later.append(PRINCIPAL_CACHE_TIME)

    assert (await scraped(api, headers=viewer))[key("store_up")] == 0
    assert (await api.ask("GET", "/metrics", headers=worker)).status == 403
    assert (await api.ask("GET", "/metrics", headers=stranger)).status == 503
    assert (await api.ask("GET", "/api/definitions", headers=viewer)).status == 503
    later.append(OUTAGE_CACHE_TIME)
    assert (await api.ask("GET", "/metrics", headers=viewer)).status == 503
