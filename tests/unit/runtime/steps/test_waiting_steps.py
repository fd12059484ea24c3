"""Steps that wait for room of their values: in order, tried when there may be room, and only while their lease lasts."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest

from holdfast.model.work import EffectRow, WorkRow
from holdfast.runtime.commits.placement import step_row
from holdfast.runtime.steps import waiting_steps as waiting_module
from holdfast.runtime.steps.limits.per_value import Value
from holdfast.runtime.steps.waiting_steps import WaitingSteps

NOW = datetime(2026, 1, 1, tzinfo=UTC)
ADA, BOB = ("customer", "ada"), ("customer", "bob")
LATER = timedelta(hours=1)


def row(name: str) -> WorkRow:
    return step_row(EffectRow(name, 1, "charge", "Charge", NOW, queue="mail@acme", tenant="acme"), "", NOW, 0)


def waiting(most: int = 2) -> WaitingSteps:
    def fixed(values: Sequence[Value]) -> int:
        return most

    return WaitingSteps(fixed)


def lease() -> float:
    return asyncio.get_running_loop().time() + 1_000


def names(steps: WaitingSteps, most: int = 10) -> list[str | None]:
    return [step.row.instance_id for step in steps.take(most)]


async def test_a_place_that_is_free_again_is_for_the_first_step_of_its_value() -> None:
    steps = waiting()
    for name, value in (("a1", ADA), ("a2", ADA), ("b1", BOB)):
        steps.add(row(name), [value], LATER, lease())
    assert names(steps) == []

    steps.has_room([ADA])

    assert await steps.wait() == 1
    assert names(steps) == ["a1"]
    assert (row("a1").id in steps, row("a2").id in steps, len(steps)) == (False, True, 2)


async def test_steps_are_tried_again_after_their_pause_as_many_as_may_start() -> None:
    steps = waiting(most=2)
    for name in ("a1", "a2", "a3"):
        steps.add(row(name), [ADA], timedelta(0), lease())

    assert await steps.wait() == 2
    assert names(steps, most=1) == ["a1"]


async def test_a_waiting_caller_hears_of_room() -> None:
    steps = waiting()
    steps.add(row("a1"), [ADA], LATER, lease())
    caller = asyncio.create_task(steps.wait())
    await asyncio.sleep(0)

    steps.has_room([ADA])

    async with asyncio.timeout(10):
        assert await caller == 1


async def test_values_of_which_this_node_holds_every_place_are_not_tried() -> None:
    steps = waiting(most=0)
    steps.add(row("a1"), [ADA], timedelta(0), lease())

    assert names(steps) == []


async def test_a_refused_step_returns_to_its_place() -> None:
    steps, first = waiting(), lease()
    steps.add(row("a1"), [ADA], timedelta(0), first)
    steps.add(row("a2"), [ADA], timedelta(0), first + 1)
    (tried,) = steps.take(1)

    steps.add(tried.row, tried.values, timedelta(0), tried.lease_ends)

    assert names(steps) == ["a1", "a2"]


async def test_a_step_whose_lease_has_ended_is_left_to_the_table() -> None:
    steps, now = waiting(), asyncio.get_running_loop().time()
    steps.add(row("a1"), [ADA], timedelta(0), now)

    assert (len(steps), names(steps)) == (0, [])


async def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting_module, "WAITING_MAX", 2)
    steps = waiting()
    for name in ("a1", "a2", "a3"):
        steps.add(row(name), [ADA], LATER, lease())

    assert [found.instance_id for found in steps.clear()] == ["a1", "a2"]
    assert len(steps) == 0
