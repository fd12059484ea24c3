"""Placement of effects: inline or on a queue, the row of a step, and the back-off of resends."""

from __future__ import annotations

from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from holdfast import Workflow, activity
from holdfast.activities import Sequence
from holdfast.model.ticket import Ticket
from holdfast.runtime.commits.placement import (
    RESEND_AFTER,
    RESEND_PAUSE_MAX,
    Placement,
    StepRef,
    is_stale,
    put_off_row,
    read_step,
    resend_pause,
    step_priority,
    step_row,
)
from holdfast.testing.store_rows import AT, effect, later
from tests.support.commit_pipeline import begun


@activity
async def pay() -> str:
    return "paid"


def node(queue: str | None) -> Any:
    """The part of a node of a plan that the class reads."""
    return SimpleNamespace(options=SimpleNamespace(queue=queue))


@pytest.mark.parametrize(
    ("default", "own", "queue"),
    [
        ("inline", None, None),
        ("inline", "gpu", "gpu"),
        ("steps", None, "steps"),
        ("steps", "gpu", "gpu"),
        ("steps", "inline", None),
    ],
)
def test_the_queue_of_the_activity_goes_before_the_default(default: str, own: str | None, queue: str | None) -> None:
    assert Placement(default=default).queue_of(node(own)) == queue


def test_steps_are_rows_unless_a_broker_carries_them() -> None:
    broker: Any = object()

    assert Placement().rows
    assert not Placement(dispatcher=broker).rows


def test_the_row_of_a_step_names_its_attempt() -> None:
    row = step_row(effect("acme", "i", 3, attempt=2, queue="gpu@acme"), "c", AT, 7)

    assert (row.tenant, row.id, row.queue, row.priority) == ("acme", "i.s3.2", "step:gpu@acme", 7)
    assert read_step(row) == StepRef(3, 2)


@pytest.mark.parametrize(("created", "due"), [(AT, None), (later(60), later(60))])
def test_a_delayed_attempt_is_due_later(created: Any, due: Any) -> None:
    assert step_row(effect("", "i", queue="gpu", created=created), "c", AT, 0).due == due


def test_a_step_that_was_put_off_has_the_same_id_as_its_first_row() -> None:
    row = step_row(effect("", "i", 3, attempt=2, queue="gpu"), "c", AT, 7)
    ticket = Ticket(kind="step", instance_id="i", execution=3, attempt=2, queue="gpu", content="c", priority=7)
    again = put_off_row(ticket, "", AT, later(60))

    assert (again.id, again.queue, again.priority, again.payload) == (row.id, row.queue, row.priority, row.payload)
    assert again.due == later(60)


def test_the_priority_is_that_of_the_activity() -> None:
    plan = begun(Workflow(Sequence(pay.bind(id="pay", priority=7)), id="w")).plan

    assert step_priority(plan, effect("", "i", activity_id="pay")) == 7
    assert step_priority(plan, effect("", "i", activity_id="gone")) == 0


def test_only_a_step_that_waits_for_long_is_stale() -> None:
    waiting = effect("", "i", queue="gpu")

    assert not is_stale(waiting, AT + RESEND_AFTER - timedelta(microseconds=1))
    assert is_stale(waiting, AT + RESEND_AFTER)
    assert not is_stale(effect("", "i"), AT + RESEND_AFTER)


def test_the_pause_between_resends_doubles_up_to_a_maximum() -> None:
    pauses = [resend_pause(timedelta(0))]
    while len(pauses) < 8:
        pauses.append(resend_pause(pauses[-1]))

    assert pauses[:3] == [RESEND_AFTER, RESEND_AFTER * 2, RESEND_AFTER * 4]
    assert pauses[-1] == RESEND_PAUSE_MAX


@pytest.mark.parametrize(
    ("queue", "home", "place"),
    [
        (None, None, ("", True)),
        (None, "gpu", ("gpu", True)),
        (None, "eu", ("eu", False)),
        ("mail", "gpu", ("mail", False)),
        ("inline", "eu", ("eu", False)),
    ],
)
def test_an_inline_effect_belongs_to_the_queue_of_its_instance(queue: str | None, home: str | None, place: Any) -> None:
    assert Placement(served=frozenset({"default", "gpu"})).of(node(queue), home) == place
