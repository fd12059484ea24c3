"""Executions as the API shows them, read from the journal."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from holdfast.model.instance import JournalEntry, JournalEvent
from holdfast.server.views.journal import executions_of

START = datetime(2026, 1, 1, tzinfo=UTC)


def entry(number: int, event: JournalEvent, execution: int = 1, data: Any = None) -> JournalEntry:
    return JournalEntry(
        sequence=number,
        event=event,
        at=START + timedelta(seconds=number),
        activity_id="a",
        activity_type="T",
        execution_id=execution,
        data=data,
    )


def test_an_effect_that_is_tried_twice_is_one_execution() -> None:
    (one,) = executions_of(
        [
            entry(0, JournalEvent.STARTED),
            entry(1, JournalEvent.EFFECT_RECORDED, data={"attempt": 1, "inputs": {"x": 1}}),
            entry(2, JournalEvent.FAULTED, data={"type": "E"}),
            entry(3, JournalEvent.RETRY_SCHEDULED, data={"attempt": 2}),
            entry(4, JournalEvent.EFFECT_RECORDED, data={"attempt": 2, "inputs": {"x": 1}}),
            entry(5, JournalEvent.EFFECT_RESULT, data={"attempt": 2}),
            entry(6, JournalEvent.COMPLETED, data={"outcome": "Done"}),
        ]
    )

    assert (one.status, one.attempt, one.inputs, one.outcome) == ("completed", 2, {"x": 1}, "Done")
    assert (one.started, one.ended, one.duration_ms) == (START, START + timedelta(seconds=6), 6000.0)


def test_an_execution_that_waits_has_not_ended() -> None:
    (one,) = executions_of([entry(0, JournalEvent.STARTED), entry(1, JournalEvent.SUSPENDED)])

    assert (one.status, one.ended, one.duration_ms) == ("waiting", None, None)


def test_two_executions_of_one_activity_are_two() -> None:
    found = executions_of([entry(0, JournalEvent.COMPLETED, 1, "x"), entry(1, JournalEvent.COMPLETED, 2)])

    assert [(one.execution_id, one.outputs) for one in found] == [(1, "x"), (2, None)]
