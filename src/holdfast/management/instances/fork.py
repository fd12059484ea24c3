"""Forks: copies of an instance that continue independently from its current state or an earlier one (rule M19).

Open effects and children belong to the original alone: an instance with open effects, or that waits for children, is not forked.
Bookmarks that wait for a stimulus or a person also wait in the copy, under an address of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from holdfast.errors import ExecutionError, InstanceAtRest
from holdfast.execution import snapshot
from holdfast.execution.live import LiveInstance
from holdfast.management.instances.history import InstanceHistory
from holdfast.model.hashing import stimulus_hash
from holdfast.model.ids import checked_id
from holdfast.model.instance import BookmarkKind, Status
from holdfast.model.tasks import TASK
from holdfast.ports import Services
from holdfast.runtime.commits.jobs.control import slot_taken
from holdfast.runtime.commits.jobs.operator import JournalNote, OperatorRequest
from holdfast.runtime.commits.jobs.start import Start, StartJob
from holdfast.runtime.facade import Runtime

_OWN = ("parent_id", "commits", "journal_base", "created")
"""Fields that a copy does not take over."""


class ForkJob(StartJob):
    """Creates the copy from a state document and journals its origin."""

    __slots__ = ("document", "origin", "request", "version")

    def __init__(
        self, start: Start, document: dict[str, Any], request: OperatorRequest, origin: str, version: int
    ) -> None:
        super().__init__(start)
        self.document = document
        self.request = request
        self.origin = origin
        self.version = version

    def create(self, now: Callable[[], int], services: Services) -> LiveInstance:
        copy = snapshot.load(self.document, self.start.plan, now, services)
        copy.created = now()
        self.request.note(copy, "fork", of=self.origin, version=self.version)
        return copy


async def fork(
    runtime: Runtime,
    instance_id: str,
    *,
    version: int | None = None,
    new_id: str | None = None,
    who: str,
    why: str | None = None,
) -> str:
    """Make the copy and return its id. The journals of both instances record it. `version` is an earlier version whose state is
    stored; without it the current state is copied."""
    key = runtime.key(checked_id(new_id, "instance id") if new_id is not None else runtime.new_id())
    row = await runtime.row(instance_id)
    if version is None or version == row.version:
        row, live = await runtime.reader.live(runtime.key(instance_id))
        content = row.content
    if version is not None and version != row.version:
        stored = await InstanceHistory(runtime.store, runtime.tenant).snapshot(instance_id, version)
        content = stored.content
        live = runtime.reader.decode_state(stored.state, await runtime.plans.plan(content), stored.values)
    version = row.version if version is None else version
    _refuse(live)
    holder = await runtime.slot_holder(live.plan, live.correlation_id)
    if holder is not None:
        raise slot_taken(instance_id, holder)
    request = OperatorRequest(who, why)
    start = Start(key=key, plan=live.plan, content=content, complete={})
    answer = await runtime.ask(ForkJob(start, copied(live, key.id), request, instance_id, version))
    if answer.existing is not None:
        raise slot_taken(instance_id, answer.existing)
    await runtime.ask(JournalNote(runtime.key(instance_id), request, "fork", to=key.id, version=version))
    return key.id


def _refuse(live: LiveInstance) -> None:
    if live.status in (Status.FINISHED, Status.CANCELED):
        raise InstanceAtRest(live.id, live.status, remedy="It has ended, so a copy could not continue.")
    children = [mark for mark in live.bookmarks.values() if mark.kind is BookmarkKind.CHILD]
    if live.status is Status.PENDING or live.effects or live.ending or children:
        what = "has not begun" if live.status is Status.PENDING else "has effects or children under way"
        raise ExecutionError(f"Instance {live.id} {what}. Fork it when it waits.")


def copied(live: LiveInstance, identity: str) -> dict[str, Any]:
    """The state document of the copy."""
    document = snapshot.dump(live, journal=False)
    for name in _OWN:
        document.pop(name, None)
    document["id"] = identity
    for mark in document.get("bookmarks", ()):
        payload = mark.get("payload")
        moved = _readdressed(payload, live.id, identity)
        if moved != payload:
            mark["payload"], mark["hash"] = moved, stimulus_hash(mark["name"], moved)
        if TASK in mark.get("metadata", {}):
            task = mark["metadata"][TASK]
            mark["metadata"] = {**mark["metadata"], TASK: {**task, "id": _renamed(task["id"], live.id, identity)}}
    return document


def _readdressed(payload: Any, old: str, new: str) -> Any:
    if not isinstance(payload, Mapping):
        return payload
    return {name: _renamed(value, old, new) for name, value in payload.items()}


def _renamed(value: Any, old: str, new: str) -> Any:
    if value == old:
        return new
    return new + value.removeprefix(old) if isinstance(value, str) and value.startswith(f"{old}-") else value
