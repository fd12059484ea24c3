"""A copy of an instance that goes its own way, from the state that it is in (rule M19).

What is under way outside belongs to the original alone: an instance with open effects, or that waits for children, is not
forked. What waits for a stimulus or a person waits in the copy too, under an address of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from holdfast.errors import ExecutionError, InstanceAtRest
from holdfast.execution import snapshot
from holdfast.execution.live import LiveInstance
from holdfast.model.hashing import stimulus_hash
from holdfast.model.ids import checked_id
from holdfast.model.instance import BookmarkKind, Status
from holdfast.model.tasks import TASK
from holdfast.runtime.cluster.node import Node
from holdfast.runtime.commits.conflicts import place_taken
from holdfast.runtime.commits.jobs.base import StartJob
from holdfast.runtime.commits.jobs.operator import Asked, NoteVerb
from holdfast.runtime.commits.snapshots import state_at
from holdfast.runtime.commits.state_codec import decode_state

_OWN = ("parent_id", "commits", "journal_base", "created")
"""What a copy does not take over."""


async def fork(
    node: Node,
    instance_id: str,
    *,
    version: int | None = None,
    new_id: str | None = None,
    who: str,
    why: str | None = None,
) -> str:
    """Make the copy; its id. The journals of both say so. `version` is a moment whose state was kept, else it is now."""
    identity = checked_id(new_id, "instance id") if new_id is not None else node.next_id()
    row, values = await node.state(instance_id)
    if version is not None and version != row.version:
        kept = await state_at(node, instance_id, version)
        row, values = replace(row, content=kept.content, state=kept.state, version=version), kept.values
    plan = await node.pins.plan(row.content)
    live = decode_state(row.state, plan, node.clock.now_ns, node.services, values)
    _refuse(live)
    holder = await node.slot_holder(plan, live.correlation_id)
    if holder is not None:
        raise place_taken(instance_id, holder)
    document, asked = copied(live, identity), Asked(who, why)

    def make() -> LiveInstance:
        copy = snapshot.load(document, plan, node.clock.now_ns, node.services)
        copy.created = node.clock.now_ns()
        asked.note(copy, "fork", of=instance_id, version=row.version)
        return copy

    job = StartJob(identity, plan=plan, content=row.content, make=make)
    assert job.answer is not None
    node.submit(job)
    answer = await job.answer
    if answer.existing is not None:
        raise place_taken(instance_id, answer.existing)
    note = NoteVerb(instance_id, asked, "fork", to=identity, version=row.version)
    assert note.answer is not None
    node.submit(note)
    await note.answer
    return identity


def _refuse(live: LiveInstance) -> None:
    if live.status in (Status.FINISHED, Status.CANCELED):
        raise InstanceAtRest(live.id, live.status, remedy="There is nothing in it to go on with.")
    children = [mark for mark in live.bookmarks.values() if mark.kind is BookmarkKind.CHILD]
    if live.status is Status.PENDING or live.effects or children:
        what = "has not begun" if live.status is Status.PENDING else "has effects or children under way"
        raise ExecutionError(f"Instance {live.id} {what}. Fork it when it waits.")


def copied(live: LiveInstance, identity: str) -> dict[str, Any]:
    """Its state as that of another instance."""
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
