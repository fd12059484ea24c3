"""A journal segment: into bytes and back, whatever happened."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, strategies as st

from holdfast import Holdfast, Workflow
from holdfast.activities import Sequence, SetVariable
from holdfast.execution.journal import RawEntry
from holdfast.execution.plan import Plan
from holdfast.model.instance import JournalEvent
from holdfast.runtime.commits.state_codec import decode_journal, encode_journal

NOON = 1_900_000_000_000_000_000
EVENTS = st.sampled_from(list(JournalEvent))
DATA = (
    st.none() | st.integers(-(2**70), 2**70) | st.text(max_size=9) | st.dictionaries(st.text(max_size=4), st.floats())
)


@pytest.fixture(scope="module")
def plan() -> Plan:
    engine = Holdfast(entry_points=False)
    return engine.plan(Workflow(Sequence(SetVariable("x", 1), SetVariable("x", 2)), id="w", variables={"x": 0}))


def test_events_keep_their_positions() -> None:
    """Journals of old name them by it."""
    stored = (
        "started completed suspended resumed faulted canceled compensated decided waiting skipped effect_recorded "
        "effect_result result_dropped retry_scheduled published logged instance_started instance_resumed "
        "instance_suspended instance_finished instance_faulted instance_canceled incident operated taken_over unread"
    )

    assert " ".join(JournalEvent).startswith(stored)


@given(st.data())
def test_what_is_written_is_read(plan: Plan, data: st.DataObject) -> None:
    places = st.integers(-1, len(plan.nodes) - 1)
    times = st.integers(-(10**9), 10**12).map(lambda later: NOON + later)  # clocks go back, too
    entry: Any = st.tuples(EVENTS, places, st.integers(0, 1000), times, DATA)
    entries: list[RawEntry] = data.draw(st.lists(entry, max_size=20))

    found = decode_journal(encode_journal(plan, entries), plan, first=7)

    assert [item.sequence for item in found] == list(range(7, 7 + len(entries)))
    assert [item.event for item in found] == [event for event, *_ in entries]
    assert [item.activity_id for item in found] == [plan.keys[place] for _, place, *_ in entries]
    assert [item.execution_id or 0 for item in found] == [entry[2] for entry in entries]
    assert [item.at for item in found] == [_moment(entry[3]) for entry in entries]
    assert repr([item.data for item in found]) == repr([entry[4] for entry in entries])  # nan is not nan


def _moment(nanoseconds: int) -> datetime:
    return datetime.fromtimestamp(nanoseconds // 1_000 / 1_000_000, UTC)


def test_an_activity_that_is_gone_keeps_its_name(plan: Plan) -> None:
    other = Holdfast(entry_points=False).plan(Workflow(Sequence(), id="w"))
    entries: list[RawEntry] = [("completed", plan.by_key["SetVariable2"].index, 3, NOON, None)]

    (found,) = decode_journal(encode_journal(plan, entries), other, first=0)

    assert (found.activity_id, found.activity_type) == ("SetVariable2", None)
