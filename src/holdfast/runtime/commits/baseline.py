"""The baseline of a commit: the instance as its last commit left it, and the rows that the jobs of the burst consume."""

from __future__ import annotations

from datetime import datetime

from msgspec import Struct

from holdfast.execution.branches.waking_dict import awake
from holdfast.execution.live import LiveInstance
from holdfast.model.guard import Guard
from holdfast.model.instance import Bookmark
from holdfast.model.stored import InstanceRow
from holdfast.model.tasks import Task
from holdfast.model.work import DeadLetterRow, EffectRef, ScheduleStep, WorkRow
from holdfast.runtime.commits.large_values import is_split, refers_to

_NONE: frozenset[str] = frozenset()
_NO_MARKS: dict[str, Bookmark] = {}


class Baseline(Struct, frozen=True):
    """The instance as its last commit stored it."""

    version: int = 0
    correlation_id: str | None = None
    bookmarks: dict[str, Bookmark] = {}
    """Empty for an instance at rest: the commit that ended it deleted its bookmark rows."""
    incidents: frozenset[str] = frozenset()
    values: frozenset[str] = frozenset()
    """Large values, without the pages of large variables, which `LiveInstance.heap` counts."""
    at_rest: bool = False
    created: datetime | None = None
    finished: datetime | None = None


NEW = Baseline()


def baseline_of(live: LiveInstance, row: InstanceRow) -> Baseline:
    at_rest = live.status.at_rest
    marks = _NO_MARKS if at_rest else awake(live.bookmarks).copy()
    if live.asleep is not None and not at_rest:
        live.asleep.before = marks
    return Baseline(
        row.version,
        live.correlation_id,
        marks,
        frozenset([item.id for item in live.incidents]) if live.incidents else _NONE,
        frozenset(refers_to(row.state)) if is_split(row.state) else _NONE,
        at_rest,
        row.created,
        row.finished,
    )


class Consumed(Struct, frozen=True, kw_only=True):
    """Rows that the jobs of a burst consume, and guards that they take."""

    work: tuple[str, ...] = ()
    effects: tuple[EffectRef, ...] = ()
    guards: tuple[Guard, ...] = ()
    bookmarks: tuple[str, ...] = ()
    """Bookmarks that were resumed: a child that resumed its parent has ended by itself."""
    schedules: tuple[ScheduleStep, ...] = ()
    inbox: tuple[str, ...] = ()
    work_dropped: tuple[str, ...] = ()
    work_added: tuple[WorkRow, ...] = ()
    """Work rows that the jobs themselves add."""
    dead_letters: tuple[DeadLetterRow, ...] = ()
    closed: tuple[tuple[str, Task], ...] = ()
    """Completed tasks, with the bookmark that waited."""


NOTHING = Consumed()
