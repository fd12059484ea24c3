"""Segment: the synchronous FIFO loop over an instance's queue. No I/O and no await; it can be discarded and run again.

A segment ends when only bookmarks and effects are left, when it exceeds a time or activity limit (rule M12), or when a
commit strategy requests a commit.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from holdfast.execution import faults
from holdfast.execution.cancellation import end_leftovers
from holdfast.execution.settle import settle, stop_runaway
from holdfast.execution.workflow_pipeline import run_around

if TYPE_CHECKING:
    from holdfast.execution.live import LiveInstance

STRIDE = 64
"""Activities between two checks of the limits."""
MAX_SEGMENT_NS = 1_000_000_000
"""Upper limit of a segment, however long its state takes to read: a blocked event loop counts as dead."""


class Limits(Struct, frozen=True, kw_only=True):
    activities: int = 5_000
    nanoseconds: int = 5_000_000
    runaway: int = 1_000_000

    def after(self, reading_ns: int) -> Limits:
        """Limits for a state that took `reading_ns` to read.

        With fixed limits, a large instance would be read and written repeatedly for a few activities each.
        """
        if reading_ns * 2 <= self.nanoseconds:
            return self
        longer = max(self.nanoseconds, min(reading_ns * 2, MAX_SEGMENT_NS))
        return replace(self, nanoseconds=longer, activities=self.activities * longer // max(1, self.nanoseconds))


class Ended(Enum):
    """Reason why a segment ended."""

    IDLE = "idle"
    """The queue is empty; at most bookmarks and effects are left."""
    CUT = "cut"
    """A limit was reached; the queue continues after the commit."""
    COMMIT = "commit"
    """A commit strategy requests a commit."""


IDLE, CUT, COMMIT = Ended


def run_segment(live: LiveInstance, limits: Limits) -> Ended:
    """Run the queue. Afterwards the instance is ready to commit."""
    if live.plan.around:
        return run_around(live, lambda: _run(live, limits), IDLE)
    return _run(live, limits)


def _run(live: LiveInstance, limits: Limits) -> Ended:
    loop = _loop_with_commits if live.plan.commits else _loop
    ended = loop(live, limits)
    while ended is IDLE and live.leftovers and end_leftovers(live):
        ended = loop(live, limits)
    if ended is IDLE:
        settle(live)
    return ended


def _loop(live: LiveInstance, limits: Limits) -> Ended:
    queue = live.queue
    pop = queue.popleft
    activities_end = live.sequence + limits.activities
    time_end = live.now() + limits.nanoseconds
    while queue:
        for _ in range(STRIDE):
            node, owner, scope = pop()
            try:
                node.op(live, owner, scope)
            except Exception as error:  # noqa: BLE001 - user code: any exception is a fault of the activity
                faults.handle_exception(live, node, owner, scope, error)
            if not queue:
                return IDLE
        if live.sequence - live.waited_at >= limits.runaway:
            stop_runaway(live, node, limits.runaway)
        elif live.sequence >= activities_end or live.now() >= time_end:
            return CUT
    return IDLE


def _loop_with_commits(live: LiveInstance, limits: Limits) -> Ended:
    """Variant with a check before each activity, used only by plans whose strategy adds commits.

    It never asks for a commit with an empty queue: the commit of the burst follows anyway.
    """
    queue = live.queue
    activities_end = live.sequence + limits.activities
    time_end = live.now() + limits.nanoseconds
    period = live.plan.commit_period_ns
    period_end = live.now() + period
    while queue:
        if live.commit_wanted or (queue[0][0].commit_before and len(live.journal) > live.committed_entries):
            live.commit_wanted = False
            return COMMIT
        node, owner, scope = queue.popleft()
        try:
            node.op(live, owner, scope)
        except Exception as error:  # noqa: BLE001 - user code: any exception is a fault of the activity
            faults.handle_exception(live, node, owner, scope, error)
        if not queue:
            break
        if live.sequence - live.waited_at >= limits.runaway:
            stop_runaway(live, node, limits.runaway)
        elif period and live.now() >= period_end:
            return COMMIT
        elif live.sequence >= activities_end or live.now() >= time_end:
            return CUT
    live.commit_wanted = False
    return IDLE
