"""The baseline of a commit: the instance as its last commit left it."""

from __future__ import annotations

from typing import Any

from holdfast import Context, Workflow, activity
from holdfast.activities import Event, Sequence, SetVariable
from holdfast.runtime.commits.baseline import NEW, baseline_of
from holdfast.runtime.commits.large_values import refers_to
from holdfast.runtime.commits.state_codec import encode_state
from holdfast.testing.store_rows import AT, instance, later
from tests.support.commit_pipeline import begun


@activity(pure=True)
def fail(context: Context) -> None:
    raise ValueError("broken")


def row_of(live: Any, **given: Any) -> Any:
    return instance("i", 3, state=encode_state(live).state, **given)


def test_a_waiting_instance_is_remembered_with_its_bookmarks() -> None:
    live = begun(Workflow(Sequence(Event("paid")), id="w"), correlation_id="c-1")
    found = baseline_of(live, row_of(live))

    assert (found.version, found.correlation_id, found.at_rest) == (3, "c-1", False)
    assert (found.created, found.finished, found.values) == (AT, None, frozenset())
    assert list(found.bookmarks) == ["b1"]


def test_later_changes_of_the_live_instance_do_not_change_the_baseline() -> None:
    live = begun(Workflow(Sequence(Event("paid")), id="w"))
    found = baseline_of(live, row_of(live))
    live.bookmarks.clear()

    assert list(found.bookmarks) == ["b1"]


def test_a_faulted_instance_has_no_bookmark_rows_but_its_incidents() -> None:
    live = begun(Workflow(Sequence(fail.bind(id="fail")), id="w"))
    found = baseline_of(live, row_of(live, status="faulted", finished=later(9)))

    assert (found.at_rest, found.bookmarks, found.finished) == (True, {}, later(9))
    assert found.incidents == {live.incidents[0].id}


def test_the_large_values_of_the_state_are_remembered() -> None:
    text = "long text " * 500
    live = begun(Workflow(Sequence(SetVariable("text", text), Event("paid")), id="w", variables={"text": ""}))
    state = encode_state(live).state
    found = baseline_of(live, instance("i", state=state))

    assert found.values == set(refers_to(state))
    assert len(found.values) == 1


def test_a_new_instance_has_no_version() -> None:
    assert (NEW.version, NEW.bookmarks, NEW.created) == (0, {}, None)
