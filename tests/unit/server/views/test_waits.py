"""Descriptions of what an instance waits for."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from holdfast.server.schemas.instances import BookmarkItem
from holdfast.server.views.waits import describe_wait, wait_of


@pytest.mark.parametrize(
    ("name", "kind", "payload", "words"),
    [
        ("Event", "activity", {"event_name": "Approved"}, "the event 'Approved' with correlation id 42"),
        ("Event", "activity", {"event_name": "Approved", "key": 7}, "the event 'Approved' with key 7"),
        ("Event", "activity", {"event_name": "Go", "instance": "I1"}, "the event 'Go' sent to this instance"),
        ("HttpEndpoint", "activity", {"route": "orders/*", "method": "post"}, "an HTTP request POST /orders/*"),
        ("HumanTask", "activity", {"task_id": "t1"}, "a person's answer"),
        ("RunTask", "activity", {"task_id": "t1"}, "the task t1 to be completed"),
        ("ExecuteWorkflow", "child", {"child": "I2"}, "the instance I2 to end"),
        ("BulkDispatch", "child", "I-3-", "child instances to end"),
        ("callback", "activity", None, "the callback from the called service"),
        ("Parcel", "activity", {"size": 3, "to": "Bonn"}, "Parcel with size 3, to Bonn"),
        ("Parcel", "activity", "x" * 200, f"Parcel {'x' * 119}…"),
        ("Ready", "activity", {}, "Ready"),
    ],
)
def test_what_is_waited_for_is_said_in_words(name: str, kind: str, payload: Any, words: str) -> None:
    mark = BookmarkItem(id="b", name=name, activity_id="here", kind=kind, payload=payload, instance_id="I1")

    assert describe_wait(wait_of(mark, "42")) == f"{words} (at 'here')"


@pytest.mark.parametrize(("kind", "words"), [("activity", ""), ("retry", "the next attempt ")])
def test_a_moment_is_said_as_people_say_it(kind: str, words: str) -> None:
    due = datetime(2026, 3, 3, 15, 30, tzinfo=timezone(timedelta(hours=1)))
    mark = BookmarkItem(id="b", name="Delay", activity_id="nap", kind=kind, due=due, instance_id="I1")

    wait = wait_of(mark)
    assert describe_wait(wait) == f"{words}until 3 Mar 2026, 14:30:00 UTC (at 'nap')"
    assert (wait.what, wait.due) == (words.strip(), due)


def test_the_instance_that_is_waited_for_is_named_beside_the_words() -> None:
    mark = BookmarkItem(id="b", name="Run", activity_id="here", kind="child", payload={"child": "I2"}, instance_id="I1")

    assert wait_of(mark).child_id == "I2"
