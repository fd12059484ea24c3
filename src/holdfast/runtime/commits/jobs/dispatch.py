"""What dispatched requests do to an instance: be there as pending, begin, go on, take a stimulus."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from holdfast.errors import BookmarkNotFound, HoldfastError
from holdfast.execution import delivery
from holdfast.execution.live import LiveInstance
from holdfast.model.definition import Definition
from holdfast.model.inputs import check_inputs
from holdfast.model.instance import Bookmark, BookmarkKind, Status
from holdfast.model.requests import DispatchInstance
from holdfast.model.values import TypeRegistry
from holdfast.model.work import WorkRow
from holdfast.runtime.commits.jobs.base import Job, StartJob, StoredResumeJob
from holdfast.runtime.commits.work_rows import read_run

_ENDED = (Status.FINISHED, Status.CANCELED)
_OPEN_TO_OTHERS = (BookmarkKind.ACTIVITY, BookmarkKind.RETRY)


class PendingJob(StartJob):
    """A new instance that does not run yet: it and the row that begins it are one commit."""

    __slots__ = ("adds",)

    idle = True

    def __init__(self, instance_id: str, *, begins: WorkRow, **more: Any) -> None:
        super().__init__(instance_id, **more)
        self.adds = (begins,)


class BeginJob(Job):
    """A pending instance begins. One that has begun, or was canceled before, has nothing to do."""

    __slots__ = ("drops",)

    quiet = True

    def __init__(self, instance_id: str, *, drops: tuple[str, ...] = (), **more: Any) -> None:
        super().__init__(instance_id, **more)
        self.drops = drops

    def apply(self, live: LiveInstance) -> bool:
        if live.status is not Status.PENDING:
            return False
        delivery.begin(live)
        return True


class RunJob(Job):
    """Go on with an instance as a request says; see `DispatchInstance`."""

    __slots__ = ("idle", "quiet", "request")

    def __init__(self, request: DispatchInstance, *, quiet: bool = False, **more: Any) -> None:
        super().__init__(request.instance_id, **more)
        self.request = request
        self.quiet = quiet
        self.idle = False

    def apply(self, live: LiveInstance) -> bool:
        if self.quiet and live.status in _ENDED:
            return False
        found = wanted(live, self.request)
        received = None if found is None else delivery.receive(live, found.id, payload_of(self.request))
        changed = merge(live, self.request.input)
        self.idle = live.status is Status.PENDING
        if received is not None:
            delivery.wake(live, received)
            return True
        if found is not None:
            return changed
        if live.status is Status.FAULTED:
            delivery.retry(live)
            return True
        return changed or bool(live.queue and not self.idle)


class StoredRunJob(RunJob):
    """The same from a row: its values are decoded by the types of the instance that it reaches."""

    __slots__ = ("payload",)

    def __init__(self, instance_id: str, payload: bytes, **more: Any) -> None:
        super().__init__(DispatchInstance(instance_id=instance_id), quiet=True, **more)
        self.payload = payload

    def apply(self, live: LiveInstance) -> bool:
        self.request = read_run(self.payload, live.plan.types)
        return super().apply(live)


def payload_of(request: DispatchInstance) -> Any:
    """What the activity gets that it resumes."""
    return dict(request.input) or None


def wanted(live: LiveInstance, request: DispatchInstance) -> Bookmark | None:
    """The bookmark that a request resumes; None if it retries, or if the instance has work to go on with. Raises what is wrong
    with the request."""
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
    """New input over the old, by key: what the definition declares. The rest is for the activity that is resumed."""
    slots = live.root.scope[1].inputs
    found = checked(live.plan.definition, given, live.plan.types)
    for name, value in found.items():
        live.root.scope[slots[name]] = value
    return bool(found)


def checked(definition: Definition, given: Mapping[str, Any], types: TypeRegistry) -> dict[str, Any]:
    """The declared ones among some inputs, converted; `InvalidInput` if one does not fit."""
    declared = {item.name for item in definition.inputs}
    known = {name: value for name, value in given.items() if name in declared}
    if not known:
        return {}
    part = replace(definition, inputs=tuple(item for item in definition.inputs if item.name in known))
    return check_inputs(part, known, types)


class Declined(HoldfastError):
    """The activity that waits there has looked at the stimulus and passes it by: it is for others."""


class DeliverJob(StoredResumeJob):
    """A stimulus for a bookmark that matched it. Where that is gone by now, or does not want it, the sender hears so and
    matches again."""

    __slots__ = ("consumes_inbox",)

    def __init__(
        self, instance_id: str, bookmark_id: str, payload: bytes, *, inbox: tuple[str, ...] = (), **more: Any
    ) -> None:
        super().__init__(instance_id, bookmark_id, payload, **more)
        self.consumes_inbox = inbox

    def apply(self, live: LiveInstance) -> bool:
        if not super().apply(live):
            raise Declined(f"'{self.bookmark_id}' of instance {live.id} passes it by.")
        return True
