"""From journals and settings to what people see."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from holdfast.engine import Holdfast
from holdfast.model.instance import JournalEntry, JournalEvent
from holdfast.server.problems import Refusal
from holdfast.server.schemas.instances import BookmarkItem
from holdfast.server.views import settings
from holdfast.server.views.descriptors import spaced
from holdfast.server.views.journal import told_executions
from holdfast.server.views.statistics import percentile, read_range
from holdfast.server.views.waits import told, wait_of
from holdfast.settings import MASK

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
    (one,) = told_executions(
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
    (one,) = told_executions([entry(0, JournalEvent.STARTED), entry(1, JournalEvent.SUSPENDED)])

    assert (one.status, one.ended, one.duration_ms) == ("waiting", None, None)


def test_two_executions_of_one_activity_are_two() -> None:
    found = told_executions([entry(0, JournalEvent.COMPLETED, 1, "x"), entry(1, JournalEvent.COMPLETED, 2)])

    assert [(one.execution_id, one.outputs) for one in found] == [(1, "x"), (2, None)]


@pytest.mark.parametrize(
    ("values", "share", "expected"),
    [
        ([], 0.5, None),
        ([1.0], 0.99, 1.0),
        ([1.0, 2.0, 3.0, 4.0], 0.5, 2.0),
        (list(map(float, range(1, 101))), 0.95, 95.0),
    ],
)
def test_percentiles_are_values_that_occurred(values: list[float], share: float, expected: float | None) -> None:
    assert percentile(values, share) == expected


@pytest.mark.parametrize("text", ["", "x", "-1h", "91d", "1y"])
def test_a_range_has_its_limits(text: str) -> None:
    with pytest.raises(Refusal):
        read_range(text)


def test_a_password_in_an_address_is_masked() -> None:
    engine = Holdfast(entry_points=False, encryption_keys="k:c2VjcmV0")
    try:
        found = {item.name: item for item in settings.effective(engine)}
    finally:
        engine.close()

    assert settings.shown("postgresql://ann:pw@db/x") == f"postgresql://ann:{MASK}@db/x"
    for secret in (
        "ann:s3@cret@db/x",
        "ann:s/3cret@db/x",
        ":s3cret@db",
        "db/x?user=ann&password=s3cret",
        "db?sslPassword=s3cret",
    ):
        told = settings.shown(f"postgresql://{secret}")
        assert "cret" not in told
        assert "db" in told
    assert found["encryption_keys"].value == MASK
    assert found["segment_time"].value == "PT0.005S"


@pytest.mark.parametrize(
    ("name", "shown"),
    [("WriteLine", "Write line"), ("write_line", "Write line"), ("If", "If"), ("SetHTTP", "Set h t t p")],
)
def test_names_are_written_as_people_read_them(name: str, shown: str) -> None:
    assert spaced(name) == shown


@pytest.mark.parametrize(
    ("name", "kind", "payload", "words"),
    [
        ("Event", "activity", {"event_name": "Approved"}, "the event 'Approved', correlation 42"),
        ("Event", "activity", {"event_name": "Approved", "key": 7}, "the event 'Approved' of 7"),
        ("Event", "activity", {"event_name": "Go", "instance": "I1"}, "the event 'Go' sent to this instance"),
        ("HttpEndpoint", "activity", {"route": "orders/*", "method": "post"}, "a request POST /orders/*"),
        ("HumanTask", "activity", {"task_id": "t1"}, "a person's answer"),
        ("RunTask", "activity", {"task_id": "t1"}, "the task t1 to be done"),
        ("ExecuteWorkflow", "child", {"child": "I2"}, "the instance I2 to end"),
        ("BulkDispatch", "child", "I-3-", "other instances to end"),
        ("callback", "activity", None, "the call-back of whom it asked"),
        ("Parcel", "activity", {"size": 3, "to": "Bonn"}, "Parcel with size 3, to Bonn"),
        ("Parcel", "activity", "x" * 200, f"Parcel {'x' * 119}…"),
        ("Ready", "activity", {}, "Ready"),
    ],
)
def test_what_is_waited_for_is_said_in_words(name: str, kind: str, payload: Any, words: str) -> None:
    mark = BookmarkItem(id="b", name=name, activity_id="here", kind=kind, payload=payload, instance_id="I1")

    assert told(wait_of(mark, "42")) == f"{words} (at 'here')"


@pytest.mark.parametrize(("kind", "words"), [("activity", ""), ("retry", "the next attempt ")])
def test_a_moment_is_said_as_people_say_it(kind: str, words: str) -> None:
    due = datetime(2026, 3, 3, 15, 30, tzinfo=timezone(timedelta(hours=1)))
    mark = BookmarkItem(id="b", name="Delay", activity_id="nap", kind=kind, due=due, instance_id="I1")

    wait = wait_of(mark)
    assert told(wait) == f"{words}until 3 Mar 2026, 14:30:00 UTC (at 'nap')"
    assert (wait.what, wait.due) == (words.strip(), due)


def test_the_instance_that_is_waited_for_is_named_beside_the_words() -> None:
    mark = BookmarkItem(id="b", name="Run", activity_id="here", kind="child", payload={"child": "I2"}, instance_id="I1")

    assert wait_of(mark).child_id == "I2"
