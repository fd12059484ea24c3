"""Bookmark rows of a commit: burned, added and moved bookmarks, their timers, and children without a waiting parent."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from holdfast import Workflow
from holdfast.activities import Correlate, Delay, Event, ExecuteWorkflow, Parallel, Sequence
from holdfast.execution import delivery
from holdfast.execution.segment import Limits, run_segment
from holdfast.model.stored import correlation_key
from holdfast.runtime.commits.baseline import NEW, NOTHING, Consumed, baseline_of
from holdfast.runtime.commits.bookmark_rows import bookmark_rows, orphans, seq_of, timer_id
from holdfast.testing.store_rows import AT, instance
from tests.support.commit_pipeline import begun

WAITS = Workflow(Parallel(Event("paid", id="paid"), Delay(timedelta(hours=1), id="delay")), id="w")


def rows(live: Any, before: Any = NEW, consumed: Consumed = NOTHING) -> dict[str, Any]:
    return bookmark_rows("", live, before, consumed, AT, "c")


def resumed(live: Any, bookmark: str) -> Any:
    """The baseline before, with the bookmark resumed in the live instance."""
    before = baseline_of(live, instance("i", state=b"\x90"))
    delivery.resume(live, bookmark)
    run_segment(live, Limits())
    return before


def bookmark_of(live: Any, activity: str) -> str:
    return next(str(mark.id) for mark in live.bookmarks.values() if mark.activity_id == activity)


def test_a_start_adds_its_bookmarks_and_timers() -> None:
    live = begun(WAITS, correlation_id="c-1")
    found = rows(live)
    delay = live.bookmarks[bookmark_of(live, "delay")]

    assert sorted(found) == ["bookmarks_added", "work_added"]
    assert {row.activity_id for row in found["bookmarks_added"]} >= {"paid"}
    assert {row.correlation for row in found["bookmarks_added"]} == {correlation_key("c-1")}
    (timer,) = found["work_added"]
    assert (timer.id, timer.kind, timer.due, timer.content) == (timer_id("i", delay.id), "timer", delay.due, "c")
    assert timer.bookmark_seq == seq_of(delay.id)


def test_bookmarks_that_stay_are_not_written_again() -> None:
    live = begun(WAITS)
    before = baseline_of(live, instance("i", state=b"\x90"))

    assert rows(live, before) == {}


def test_a_resumed_bookmark_is_burned() -> None:
    live = begun(WAITS)
    added = {row.seq: row.ref for row in rows(live)["bookmarks_added"]}
    paid = bookmark_of(live, "paid")
    found = rows(live, resumed(live, paid))

    assert found == {"bookmarks_burned": (added[seq_of(paid)],)}


def test_a_timer_that_is_obsolete_is_dropped_unless_it_was_consumed() -> None:
    live = begun(WAITS)
    delay = bookmark_of(live, "delay")
    before = resumed(live, delay)

    assert rows(live, before)["work_dropped"] == (timer_id("i", delay),)
    assert "work_dropped" not in rows(live, before, Consumed(work=(timer_id("i", delay),)))


def test_the_end_of_an_instance_burns_every_bookmark() -> None:
    live = begun(WAITS)
    before = baseline_of(live, instance("i", state=b"\x90"))
    added = {row.ref for row in rows(live)["bookmarks_added"]}
    delivery.cancel(live)
    run_segment(live, Limits())
    found = rows(live, before)

    assert set(found["bookmarks_burned"]) == added
    assert len(found["work_dropped"]) == 1
    assert "bookmarks_added" not in found


def test_a_new_correlation_id_moves_the_bookmarks_and_keeps_the_timers() -> None:
    both = Workflow(Parallel(Event("paid"), Sequence(Event("go", id="go"), Correlate("c-2"), Event("end"))), id="w")
    live = begun(both, correlation_id="c-1")
    before = resumed(live, bookmark_of(live, "go"))
    found = rows(live, before)

    assert {ref.correlation for ref in found["bookmarks_burned"]} == {correlation_key("c-1")}
    assert {row.correlation for row in found["bookmarks_added"]} == {correlation_key("c-2")}
    assert len(found["bookmarks_added"]) == 2


def test_a_migration_writes_bookmarks_and_timers_anew() -> None:
    live = begun(WAITS)
    before = baseline_of(live, instance("i", state=b"\x90"))
    live.moved_to = "c2"
    found = rows(live, before)
    (timer,) = found["work_added"]

    assert [ref.seq for ref in found["bookmarks_burned"]] == [row.seq for row in found["bookmarks_added"]]
    assert found["work_dropped"] == (timer.id,)


def test_a_child_whose_parent_stopped_waiting_is_an_orphan() -> None:
    live = begun(Workflow(Sequence(ExecuteWorkflow("child")), id="w"))
    (mark,) = live.bookmarks.values()
    before = baseline_of(live, instance("i", state=b"\x90"))
    assert orphans(live, before, NOTHING) == []

    del live.bookmarks[mark.id]
    assert orphans(live, before, NOTHING) == [mark.payload["child"]]
    assert orphans(live, before, Consumed(bookmarks=(mark.id,))) == []

    live.orphans = ["other"]
    assert orphans(live, before, Consumed(bookmarks=(mark.id,))) == ["other"]
