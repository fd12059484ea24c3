"""Bookmark rows of a commit: consumed bookmarks, new bookmarks, and the timers of bookmarks with a due time."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from holdfast.execution.branches.waking_dict import awake
from holdfast.execution.live import LiveInstance
from holdfast.model.instance import Bookmark, BookmarkKind
from holdfast.model.stored import BookmarkRef, BookmarkRow, correlation_key
from holdfast.model.wake_keys import STORED_KINDS, bookmark_key
from holdfast.model.work import WorkKind, WorkRow, home_queue
from holdfast.runtime.commits.task_rows import task_records
from holdfast.runtime.payload_codec import encode_payload

if TYPE_CHECKING:
    from holdfast.runtime.commits.baseline import Baseline, Consumed

_CHILD = BookmarkKind.CHILD
_NONE: dict[str, Bookmark] = {}
_metadata = attrgetter("metadata")
_FEW = 8
"""Bookmarks up to which a loop is faster than set operations."""


def bookmark_rows(
    tenant: str, live: LiveInstance, before: Baseline, consumed: Consumed, now: datetime, content: str
) -> dict[str, Any]:
    """The fields of the commit that have rows. A timer row that a job of the burst consumed is not dropped a second time."""
    _wake_if_all_move(live, before)
    old, new = before.bookmarks, _NONE if live.status.at_rest else awake(live.bookmarks)
    migrated = live.moved_to is not None  # Rows name activities and content, so all rows are written again.
    moved = migrated or live.correlation_id != before.correlation_id
    was, name = correlation_key(before.correlation_id), live.id
    becomes = correlation_key(live.correlation_id) if moved else was
    burned, added, dropped, timers = [], [], [], []
    taken = frozenset(consumed.work)
    # Set operations on the keys: a commit that changes a few of thousands of bookmarks must not visit each of them.
    for key in old if moved else _missing(old, new):
        item, gone = old[key], key not in new
        if item.kind in STORED_KINDS:
            burned.append(BookmarkRef(bookmark_key(item), was, seq_of(key)))
        if item.due is not None and (gone or migrated) and (timer := timer_id(name, key)) not in taken:
            dropped.append(timer)
    for key in new if moved else _missing(new, old):
        item, fresh = new[key], key not in old
        if item.kind in STORED_KINDS:
            added.append(_bookmark(tenant, live, item, now, becomes))
        if item.due is not None and (fresh or migrated):
            timers.append(_timer(tenant, live, item, now, content))
    rows: dict[str, Any] = {}
    if burned:
        rows["bookmarks_burned"] = tuple(burned)
    if added:
        rows["bookmarks_added"] = tuple(added)
    if dropped:
        rows["work_dropped"] = tuple(dropped)
    if timers:
        rows["work_added"] = tuple(timers)
    if (_has_metadata(old) or _has_metadata(new)) and (
        records := tuple(task_records(tenant, live, before, consumed, now))
    ):
        rows["records"] = records
    return rows


def _wake_if_all_move(live: LiveInstance, before: Baseline) -> None:
    """Rows of sleeping bookmarks stay, unless all rows of the instance are written or deleted."""
    if live.asleep is None:
        return
    moves = live.moved_to is not None or live.correlation_id != before.correlation_id
    if moves or live.status.at_rest or before.at_rest:
        live.asleep.wake_all()


def _missing(of: dict[str, Bookmark], others: dict[str, Bookmark]) -> Iterable[str]:
    """Keys that the others do not have, in their order."""
    if not others:
        return of
    if len(of) <= _FEW:
        return [key for key in of if key not in others]
    found = of.keys() - others.keys()
    return found if len(found) < 2 else sorted(found, key=seq_of)


def _has_metadata(marks: dict[str, Bookmark]) -> bool:
    return any(map(_metadata, marks.values()))


def _bookmark(tenant: str, live: LiveInstance, item: Bookmark, now: datetime, correlation: int) -> BookmarkRow:
    key, payload = bookmark_key(item), encode_payload(item.payload, live.plan.types)
    return BookmarkRow(live.id, seq_of(item.id), key, item.name, now, tenant, correlation, item.activity_id, payload)


def _timer(tenant: str, live: LiveInstance, item: Bookmark, now: datetime, content: str) -> WorkRow:
    return WorkRow(
        tenant=tenant,
        id=timer_id(live.id, item.id),
        kind=WorkKind.TIMER,
        queue=home_queue(tenant, live.home),
        due=item.due,
        instance_id=live.id,
        bookmark_seq=seq_of(item.id),
        created=now,
        content=content,
    )


def orphans(live: LiveInstance, before: Baseline, consumed: Consumed) -> list[str]:
    """Ids of children to cancel: they have not ended, and no bookmark waits for them any more."""
    old, ended = before.bookmarks, frozenset(consumed.bookmarks)
    left = [
        child_of(old[key])
        for key in _missing(old, awake(live.bookmarks))
        if old[key].kind is _CHILD and key not in ended and "child" in old[key].payload
    ]
    return left + live.orphans if live.orphans else left


# -- ids ---------------------------------------------------------------------------------------------------------------


def seq_of(bookmark_id: str) -> int:
    return int(bookmark_id[1:])


def child_of(bookmark: Bookmark) -> str:
    return str(bookmark.payload["child"])


def timer_id(instance_id: str, bookmark_id: str) -> str:
    return f"{instance_id}.t{bookmark_id[1:]}"
