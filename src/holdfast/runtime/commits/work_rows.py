"""Work rows that one instance's commit sends to another: start, cancel, a child's beginning and end, published events.

A burst never runs another instance (rule H9): its commit adds a work row, and the node that claims the row runs the other
instance. The commit of that instance consumes the row.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from msgspec import Struct, msgpack
from msgspec.structs import replace

from holdfast.execution.composite import UNSET
from holdfast.execution.live import ChildStart, LiveInstance
from holdfast.model import values
from holdfast.model.guard import Guard, idempotency_key
from holdfast.model.instance import BookmarkKind
from holdfast.model.requests import EVENT, DispatchInstance, decode_request, encode_request
from holdfast.model.values import TypeRegistry
from holdfast.model.work import EffectRow, InboxRow, WorkKind, WorkRow, home_queue, queue_of
from holdfast.runtime.payload_codec import encode_payload


class StartRequest(Struct, frozen=True, kw_only=True):
    """The payload of a start row."""

    reference: str
    input: Any
    """Encoded typed values, decoded with the types of the started workflow."""
    wait: bool
    correlation_id: str | None
    instance_id: str
    parent_id: str
    """`instance#bookmark`; without a bookmark the parent does not wait for the child."""
    name: str | None = None
    principal: str | None = None
    trace: str | None = None
    home: str | None = None
    """The queue of the parent's start: children stay on it."""
    token: str | None = None
    """Identifies one start among several with the same instance id; see `start_guard`."""


_pack = msgpack.Encoder().encode
_unpack = msgpack.Decoder(StartRequest).decode


def parent_of(parent_id: str) -> tuple[str, str]:
    """The instance and the bookmark of a parent id."""
    instance_id, _, bookmark = parent_id.partition("#")
    return instance_id, bookmark


# -- to children -------------------------------------------------------------------------------------------------------


def start_id(child_id: str) -> str:
    return f"{child_id}.start"


def start(tenant: str, live: LiveInstance, wanted: ChildStart, now: datetime) -> WorkRow:
    bookmark = _child_bookmark(live, wanted.execution_id)
    request = StartRequest(
        reference=wanted.reference,
        input=values.encode(wanted.input, live.plan.types),
        wait=wanted.wait,
        correlation_id=wanted.correlation_id,
        instance_id=wanted.instance_id,
        parent_id=live.id if bookmark is None else f"{live.id}#{bookmark}",
        principal=live.principal,
        trace=live.trace,
        home=live.home,
    )
    return WorkRow(
        tenant=tenant,
        id=start_id(wanted.instance_id),
        kind=WorkKind.START,
        queue=home_queue(tenant, live.home),
        instance_id=wanted.instance_id,
        created=now,
        payload=_pack(request),
    )


def _child_bookmark(live: LiveInstance, execution_id: int) -> str | None:
    """The bookmark at which an execution waits for its child. Found through the waiting activation: a parent with
    thousands of children must not search all its bookmarks for each of them."""
    waiter = live.waiters.get(execution_id)
    for key in (waiter.bookmarks if waiter is not None else None) or ():
        if (mark := live.bookmarks.get(key)) is not None and mark.kind is BookmarkKind.CHILD:
            return key
    return None


def application_start(
    tenant: str,
    instance_id: str,
    reference: str,
    inputs: Mapping[str, Any],
    *,
    types: TypeRegistry,
    content: str,
    correlation_id: str | None,
    name: str | None,
    now: datetime,
    token: str | None = None,
) -> WorkRow:
    """The start row that an application writes in its own transaction: the instance has no parent."""
    request = StartRequest(
        reference=reference,
        input=values.encode(dict(inputs), types),
        wait=False,
        correlation_id=correlation_id,
        instance_id=instance_id,
        parent_id="",
        name=name,
        token=token,
    )
    return WorkRow(
        tenant=tenant,
        id=start_id(instance_id),
        kind=WorkKind.START,
        queue=queue_of(tenant),
        instance_id=instance_id,
        content=content,
        created=now,
        payload=_pack(request),
    )


def start_guard(token: str) -> Guard:
    """Inserted by the commit that starts the instance of a token: an instance without it was started by another start."""
    return idempotency_key(operation="start-in", target="", key=token)


def read_start(row: WorkRow) -> StartRequest:
    return _unpack(row.payload)


def start_inputs(request: StartRequest, types: TypeRegistry) -> dict[str, Any]:
    inputs: dict[str, Any] = values.decode(request.input, types)
    return inputs


def cancel(tenant: str, child: str, cause: str | None, now: datetime) -> WorkRow:
    """Cancels a child that its parent does not wait for any more. If the parent was terminated, so is the child."""
    return WorkRow(
        tenant=tenant,
        id=f"{child}.cancel",
        kind=WorkKind.CANCEL,
        queue=queue_of(tenant),
        instance_id=child,
        created=now,
        payload=(cause or "").encode(),
    )


# -- to the parent -----------------------------------------------------------------------------------------------------


def ended(tenant: str, live: LiveInstance, now: datetime) -> WorkRow:
    """Notifies the parent of the end. A child that was retried and ends again sends another row, which finds no bookmark."""
    return _to_parent(tenant, live, f"{live.id}.end{live.commits}", now)


def begun(tenant: str, live: LiveInstance, now: datetime) -> WorkRow:
    return _to_parent(tenant, live, f"{live.id}.begun", now)


def _to_parent(tenant: str, live: LiveInstance, row_id: str, now: datetime) -> WorkRow:
    assert live.parent_id is not None
    parent, bookmark = parent_of(live.parent_id)
    outcome = {"instance_id": live.id, "status": live.status.value, "outputs": outputs_of(live)}
    row = resume(tenant, row_id, parent, bookmark, encode_payload(outcome, live.plan.types), now)
    return row if live.home is None else replace(row, queue=home_queue(tenant, live.home))


def resume(tenant: str, row_id: str, instance_id: str, bookmark: str, payload: bytes, now: datetime) -> WorkRow:
    """Resumes one bookmark of one instance; `payload` is encoded."""
    return WorkRow(
        tenant=tenant,
        id=row_id,
        kind=WorkKind.RESUME,
        queue=queue_of(tenant),
        instance_id=instance_id,
        bookmark_seq=int(bookmark.removeprefix("b")),
        created=now,
        payload=payload,
    )


def outputs_of(live: LiveInstance) -> dict[str, Any]:
    scope = live.root.scope
    declared = {name: scope[slot] for name, slot in scope[1].outputs.items() if scope[slot] is not UNSET}
    return {**declared, **live.spare_outputs}


# -- stimuli -----------------------------------------------------------------------------------------------------------


class Stimulus(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A stimulus on its way to triggers and bookmarks (rule H12). Values are encoded."""

    id: str
    type: str = EVENT
    event_name: str | None = None
    payload: Any = None
    """Matched against triggers and bookmarks, unless the stimulus is an event."""
    input: Any = None
    """The data that started and resumed instances receive."""
    correlation_id: str | None = None
    instance_id: str | None = None
    key: Any = None
    broadcast: bool = False
    guarded: bool = False
    """The request had an idempotency key, from which `id` is derived."""
    principal: str | None = None
    trace: str | None = None
    after: tuple[str, int] = ("", 0)
    """Cursor of a broadcast, which is delivered in pages: bookmarks up to here were served (rule M6)."""
    taken: bool = False
    """A bookmark of an earlier page took it."""

    @property
    def is_broadcast(self) -> bool:
        return self.broadcast or (self.instance_id is None and self.correlation_id is None and self.key is None)


_unpack_stimulus = msgpack.Decoder(Stimulus).decode


def published(live: LiveInstance, row_id: str, event: dict[str, Any]) -> Stimulus:
    """The stimulus of PublishEvent: addressed if the event has a correlation id, otherwise a broadcast."""
    return Stimulus(
        id=row_id,
        event_name=event["name"],
        correlation_id=event["correlation_id"],
        input=values.encode(event["payload"], live.plan.types),
        principal=live.principal,
        trace=live.trace,
    )


def stimulus(tenant: str, sent: Stimulus, now: datetime, **more: Any) -> WorkRow:
    return WorkRow(
        tenant=tenant,
        id=sent.id,
        kind=WorkKind.STIMULUS,
        created=now,
        payload=_pack(sent),
        **{"queue": queue_of(tenant), **more},
    )


def read_stimulus(row: WorkRow) -> Stimulus:
    return _unpack_stimulus(row.payload)


def read_inbox_row(row: InboxRow) -> Stimulus:
    return read_stimulus_bytes(row.payload)


def read_stimulus_bytes(data: bytes) -> Stimulus:
    return _unpack_stimulus(data)


def encoded(stimulus: Stimulus) -> bytes:
    return _pack(stimulus)


def encoded_input(stimulus: Stimulus) -> bytes:
    """The input, encoded as the payload of a resumed bookmark."""
    return _pack(stimulus.input)


# -- dispatched --------------------------------------------------------------------------------------------------------


def begin_id(instance_id: str) -> str:
    return f"{instance_id}.begin"


def begin(tenant: str, instance_id: str, content: str, now: datetime, **more: Any) -> WorkRow:
    """The row that begins a pending instance."""
    return WorkRow(
        tenant=tenant,
        id=begin_id(instance_id),
        kind=WorkKind.BEGIN,
        instance_id=instance_id,
        content=content,
        created=now,
        **{"queue": queue_of(tenant), **more},
    )


def run(tenant: str, row_id: str, request: DispatchInstance, content: str, now: datetime, **more: Any) -> WorkRow:
    return WorkRow(
        tenant=tenant,
        id=row_id,
        kind=WorkKind.RUN,
        instance_id=request.instance_id,
        content=content,
        created=now,
        payload=encode_request(request),
        **{"queue": queue_of(tenant), **more},
    )


def read_run(payload: bytes, types: TypeRegistry) -> DispatchInstance:
    request = decode_request(payload, types)
    assert isinstance(request, DispatchInstance)
    return request


# -- replays -----------------------------------------------------------------------------------------------------------


def replay_row(effect: EffectRow, now: datetime) -> WorkRow:
    """The work row that a dead letter restores: it runs a failed effect again."""
    return WorkRow(
        tenant=effect.tenant,
        id=f"{effect.instance_id}.x{effect.execution}.{effect.attempt}",
        kind=WorkKind.RETRY,
        queue=queue_of(effect.tenant),
        instance_id=effect.instance_id,
        created=now,
        payload=_pack(_Replay(execution=effect.execution, activity=effect.activity_id)),
    )


class _Replay(Struct, frozen=True):
    execution: int
    """Identifies the effect: the activity may have another id when the letter is replayed, after a migration."""
    activity: str
    """For readers of the dead letter."""


def read_replay(row: WorkRow) -> int:
    """The execution id of the effect."""
    return msgpack.decode(row.payload, type=_Replay).execution
