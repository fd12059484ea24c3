"""Jobs of dispatched requests: begin a pending instance, continue an instance."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from holdfast.errors import BookmarkNotFound
from holdfast.execution import delivery
from holdfast.execution.live import LiveInstance
from holdfast.model.definition import Definition
from holdfast.model.inputs import check_inputs
from holdfast.model.instance import Bookmark, BookmarkKind, Status
from holdfast.model.requests import DispatchInstance
from holdfast.model.stored import InstanceKey
from holdfast.model.values import TypeRegistry
from holdfast.runtime.commits.jobs.base import Job
from holdfast.runtime.commits.work_rows import read_run

_ENDED = (Status.FINISHED, Status.CANCELED)
_OPEN_TO_OTHERS = (BookmarkKind.ACTIVITY, BookmarkKind.RETRY)


class BeginJob(Job):
    """Begins a pending instance; nothing to do if it has begun or was canceled."""

    __slots__ = ("drops_work",)

    is_hint = True

    def __init__(self, key: InstanceKey, *, drops_work: tuple[str, ...] = (), **more: Any) -> None:
        super().__init__(key, **more)
        self.drops_work = drops_work

    def apply(self, live: LiveInstance) -> bool:
        if live.status is not Status.PENDING:
            return False
        delivery.begin(live)
        return True


class RunJob(Job):
    """Continues an instance as a request says; see `DispatchInstance`."""

    __slots__ = ("is_hint", "request", "runs_queue")

    def __init__(self, tenant: str, request: DispatchInstance, *, is_hint: bool = False, **more: Any) -> None:
        super().__init__(InstanceKey(tenant, request.instance_id), **more)
        self.request = request
        self.is_hint = is_hint
        self.runs_queue = True

    def apply(self, live: LiveInstance) -> bool:
        if self.is_hint and live.status in _ENDED:
            return False
        found = bookmark_of(live, self.request)
        received = None if found is None else delivery.receive(live, found.id, payload_of(self.request))
        changed = merge(live, self.request.input)
        self.runs_queue = live.status is not Status.PENDING
        if received is not None:
            delivery.wake(live, received)
            return True
        if found is not None:
            return changed
        if live.status is Status.FAULTED:
            delivery.retry(live)
            return True
        return changed or bool(live.queue and self.runs_queue)


class StoredRunJob(RunJob):
    """A request of a row: its values are decoded by the types of the instance that it reaches."""

    __slots__ = ("payload",)

    def __init__(self, key: InstanceKey, payload: bytes, **more: Any) -> None:
        super().__init__(key.tenant, DispatchInstance(instance_id=key.id), is_hint=True, **more)
        self.payload = payload

    def apply(self, live: LiveInstance) -> bool:
        self.request = read_run(self.payload, live.plan.types)
        return super().apply(live)


def payload_of(request: DispatchInstance) -> Any:
    """The payload for the resumed activity."""
    return dict(request.input) or None


def bookmark_of(live: LiveInstance, request: DispatchInstance) -> Bookmark | None:
    """The bookmark that a request resumes; None if the request retries, or if the instance has queued work. Raises
    `BookmarkNotFound` for a request that names no open bookmark."""
    if live.status in (*_ENDED, Status.PENDING):
        return None
    marks = [item for item in live.bookmarks.values() if item.kind in _OPEN_TO_OTHERS]
    name = request.bookmark_id or request.node_id or request.activity_id
    if request.bookmark_id is not None:
        found = [item for item in marks if item.id == request.bookmark_id]
    elif request.node_id is not None:
        found = [item for item in marks if item.activity_id == request.node_id]
    elif request.activity_id is not None:
        found = [item for item in marks if item.activity_id.rpartition("/")[2] == request.activity_id]
    else:
        found = marks if len(marks) == 1 else []
    if live.status is Status.FAULTED and request.bookmark_id is None:
        return None
    if found:
        return found[0]
    if name is None and (live.queue or live.effects or not marks):
        return None
    listed = [f"{item.id} ({item.activity_id})" for item in marks]
    raise BookmarkNotFound(name or "(none named)", instance_id=live.id, open_ids=listed)


def merge(live: LiveInstance, given: Mapping[str, Any]) -> bool:
    """Overwrite declared inputs by key. Other input is for the resumed activity."""
    slots = live.root.scope[1].inputs
    found = checked(live.plan.definition, given, live.plan.types)
    for name, value in found.items():
        live.root.scope[slots[name]] = value
    return bool(found)


def checked(definition: Definition, given: Mapping[str, Any], types: TypeRegistry) -> dict[str, Any]:
    """The declared inputs among the given ones, converted; raises `InvalidInput`."""
    declared = {item.name for item in definition.inputs}
    known = {name: value for name, value in given.items() if name in declared}
    if not known:
        return {}
    part = replace(definition, inputs=tuple(item for item in definition.inputs if item.name in known))
    return check_inputs(part, known, types)
