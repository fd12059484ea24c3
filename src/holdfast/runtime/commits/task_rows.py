"""Records of human tasks in a commit: every bookmark that describes a task has a record, written by the same commit.

The state of the instance is authoritative; the record is a copy for lists. The record is open while the bookmark waits,
completed when the bookmark was resumed, and canceled when the workflow continued or ended without it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from holdfast.execution.branches.waking_dict import awake
from holdfast.execution.live import LiveInstance
from holdfast.model.instance import Bookmark
from holdfast.model.record_rows import RecordRow
from holdfast.model.tasks import TASK, Task, TaskState, record_of
from holdfast.model.values import shown

if TYPE_CHECKING:
    from holdfast.runtime.commits.baseline import Baseline, Consumed

RUN_TASK = "RunTask"


def task_at(live: LiveInstance, mark: Bookmark) -> Task | None:
    """The task that a bookmark describes."""
    metadata = mark.metadata
    if not metadata:
        return None
    fields: Mapping[str, Any] | None = metadata.get(TASK)
    if fields is None:
        if mark.name != RUN_TASK or "task_name" not in metadata:
            return None
        name = str(metadata["task_name"])
        fields = {"id": mark.payload["task_id"], "title": name, "name": name, "about": shown(metadata.get("payload"))}
    known = {"instance_id": live.id, "definition_id": live.definition_id, "activity_id": mark.activity_id}
    return msgspec.convert({**fields, **known}, Task)


def find_task(live: LiveInstance, task_id: str) -> tuple[Bookmark, Task] | None:
    """The bookmark that waits for this task, and the task."""
    for mark in live.bookmarks.values():
        if mark.metadata and (task := task_at(live, mark)) is not None and task.id == task_id:
            return mark, task
    return None


def with_task(mark: Bookmark, task: Task) -> Bookmark:
    """The bookmark with the task as it is now."""
    fields = msgspec.to_builtins(task, builtin_types=(datetime,))
    return replace(mark, metadata={**mark.metadata, TASK: {name: value for name, value in fields.items() if value}})


def task_records(
    tenant: str, live: LiveInstance, before: Baseline, consumed: Consumed, now: datetime
) -> Iterator[RecordRow]:
    old, new = before.bookmarks, {} if live.status.at_rest else awake(live.bookmarks)
    for key, mark in new.items():
        if mark.metadata and old.get(key) is not mark and (task := task_at(live, mark)) is not None:
            yield record_of(task, tenant, now)
    for key, mark in old.items():
        if mark.metadata and key not in new and (task := task_at(live, mark)) is not None:
            yield record_of(_closed(task, consumed, key), tenant, now)


def _closed(task: Task, consumed: Consumed, key: str) -> Task:
    if key not in consumed.bookmarks:
        return replace(task, state=TaskState.CANCELED)
    return dict(consumed.closed).get(key) or replace(task, state=TaskState.COMPLETED)
