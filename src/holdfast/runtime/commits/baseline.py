"""What a commit begins from, and what it uses up: the instance as the last commit left it, rows and guards of its jobs."""

from __future__ import annotations

from datetime import datetime

from msgspec import Struct

from holdfast.execution.live import LiveInstance
from holdfast.model.guard import Guard
from holdfast.model.instance import Bookmark
from holdfast.model.stored import InstanceRow
from holdfast.model.tasks import Task
from holdfast.model.work import DeadLetterRow, EffectRef, ScheduleStep, WorkRow
from holdfast.runtime.commits.large_values import is_split, refers_to

_NONE: frozenset[str] = frozenset()
_NO_MARKS: dict[str, Bookmark] = {}


class Before(Struct, frozen=True):
    """What the last commit of the instance left in the store."""

    version: int = 0
    correlation_id: str | None = None
    bookmarks: dict[str, Bookmark] = {}
    """None of an instance at rest: its rows went with the commit that ended it."""
    incidents: frozenset[str] = frozenset()
    values: frozenset[str] = frozenset()
    at_rest: bool = False
    created: datetime | None = None
    finished: datetime | None = None


NEW = Before()


def remember(live: LiveInstance, row: InstanceRow) -> Before:
    at_rest = live.status.at_rest
    return Before(
        row.version,
        live.correlation_id,
        _NO_MARKS if at_rest else live.bookmarks.copy(),
        frozenset([item.id for item in live.incidents]) if live.incidents else _NONE,
        frozenset(refers_to(row.state)) if is_split(row.state) else _NONE,
        at_rest,
        row.created,
        row.finished,
    )


class Consumed(Struct, frozen=True, kw_only=True):
    """Rows that this segment used up, and guards that it asks for."""

    work: tuple[str, ...] = ()
    effects: tuple[EffectRef, ...] = ()
    guards: tuple[Guard, ...] = ()
    bookmarks: tuple[str, ...] = ()
    """Those that were woken: a child that woke its parent has ended by itself."""
    schedules: tuple[ScheduleStep, ...] = ()
    inbox: tuple[str, ...] = ()
    drops: tuple[str, ...] = ()
    adds: tuple[WorkRow, ...] = ()
    """Work that the jobs themselves ask for."""
    buries: tuple[DeadLetterRow, ...] = ()
    closed: tuple[tuple[str, Task], ...] = ()
    """Tasks that somebody completed, with the bookmark that waited."""


NOTHING = Consumed()
