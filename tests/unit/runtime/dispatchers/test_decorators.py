"""Dispatchers around dispatchers: they change how a request is carried, never what it asks for."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from holdfast.model.requests import (
    DispatchDefinition,
    Dispatched,
    DispatchInstance,
    DispatchRequest,
    DispatchResponse,
    DispatchStimulus,
    DispatchTrigger,
)
from holdfast.runtime.dispatchers import Prioritized, RateLimited, Routed
from holdfast.runtime.dispatchers.decorators import target_of


class Recorder:
    def __init__(self) -> None:
        self.got: list[DispatchRequest] = []

    async def dispatch(self, request: DispatchRequest, *, wait: timedelta | None = None) -> DispatchResponse:
        self.got.append(request)
        return Dispatched()


def start(name: str = "order", **more: Any) -> DispatchDefinition:
    return DispatchDefinition(definition_id=name, **more)


async def test_a_priority_is_given_to_those_that_have_none() -> None:
    inner = Recorder()
    dispatcher = Prioritized(inner, lambda request: 5 if target_of(request) == "order" else 0)

    for request in (start(), start(priority=1), start("other")):
        await dispatcher.dispatch(request)

    assert [request.priority for request in inner.got] == [5, 1, 0]


async def test_a_route_is_by_what_the_request_is_for_or_by_a_function() -> None:
    inner = Recorder()
    by_name = Routed(inner, {"order": "slow", "paid": "events"})
    by_rule = Routed(inner, lambda request: "first" if request.principal == "ada" else None)

    for request in (start(), start(queue="mine"), start("other"), DispatchStimulus(event_name="paid")):
        await by_name.dispatch(request)
    await by_rule.dispatch(start(principal="ada"))
    await by_rule.dispatch(start())

    assert [request.queue for request in inner.got] == ["slow", "mine", None, "events", "first", None]


async def test_what_goes_over_the_rate_is_put_off(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr(asyncio.get_running_loop(), "time", lambda: now)
    inner = Recorder()
    dispatcher = RateLimited(inner, limit=2, period=timedelta(seconds=1))

    for _ in range(5):
        await dispatcher.dispatch(start())
    await dispatcher.dispatch(start("other", delay=timedelta(seconds=9)))
    delays = [None if item.delay is None else item.delay.total_seconds() for item in inner.got]
    assert delays == [None, None, 0.5, 1.0, 1.5, 9]

    now = 200.0
    await dispatcher.dispatch(start())
    assert inner.got[-1].delay is None


def test_a_rate_has_sense() -> None:
    with pytest.raises(ValueError, match="at least one"):
        RateLimited(Recorder(), limit=0)


def test_every_request_is_for_something() -> None:
    assert target_of(start()) == "order"
    assert target_of(DispatchInstance(instance_id="i")) == "i"
    assert target_of(DispatchTrigger(activity_type="Event")) == "Event"
    assert target_of(DispatchStimulus(type="Letter")) == "Letter"
