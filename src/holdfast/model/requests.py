"""What can be asked of a dispatcher, and what it answers: plain data that goes over any wire.

    DispatchDefinition   start an instance of a definition
    DispatchInstance     go on with an instance: resume it, or run what failed in it again
    DispatchTrigger      start every published workflow that has a matching trigger
    DispatchResume       resume every instance that waits at a matching bookmark
    DispatchStimulus     both of them, matched later by whoever takes it up (rule H12)

The first four are matched before anything is queued, and answered with the ids of the instances that are concerned; a
stimulus is answered with a receipt.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import msgspec
from msgspec import Struct

from holdfast.model import values
from holdfast.model.catalog import Which
from holdfast.model.instance import Status
from holdfast.model.values import TypeRegistry

EVENT = "Event"
"""The stimulus type of events: what the Event activity and `wait_for` wait for."""


class Request(Struct, frozen=True, kw_only=True, tag_field="request"):
    """What every request may say."""

    priority: int = 0
    """Higher goes first."""
    queue: str | None = None
    """The queue whose workers do it; None is the default one."""
    idempotency_key: str | None = None
    """The same key twice does it once; with another body it is refused (rule M4)."""
    delay: timedelta | None = None
    """Not before this long from now."""
    principal: str | None = None
    """On whose behalf; kept with the instance."""
    trace: str | None = None
    """W3C trace context of who asks."""


class DispatchDefinition(Request, frozen=True, kw_only=True, tag="definition"):
    """A new instance of a definition. It is there as `pending` when the answer comes."""

    definition_id: str
    version: int | Which = Which.PUBLISHED
    input: Mapping[str, Any] = {}
    correlation_id: str | None = None
    instance_id: str | None = None
    """The id that the instance gets; None makes one up."""
    name: str | None = None
    trigger_activity_id: str | None = None
    """Start at this trigger instead of at the beginning."""
    trigger_payload: Any = None
    """What that trigger receives."""
    properties: Mapping[str, Any] = {}
    """Kept with the instance; the workflow does not see them."""
    parent_id: str | None = None
    """The instance that asked for it, if one did: only for finding one from the other."""


class DispatchInstance(Request, frozen=True, kw_only=True, tag="instance"):
    """An instance is to go on. A suspended one is resumed at the bookmark, at the one of that activity, or at its only one; a
    faulted one runs its failed activities again."""

    instance_id: str
    input: Mapping[str, Any] = {}
    """Merged over the workflow's inputs by key; a resumed activity receives all of it."""
    bookmark_id: str | None = None
    activity_id: str | None = None
    """As it stands in the definition."""
    node_id: str | None = None
    """Within workflows that are used as activities: ids from the outside in, joined by `/`."""


class DispatchTrigger(Request, frozen=True, kw_only=True, tag="trigger"):
    """An instance of every published workflow with a trigger of that type and payload."""

    activity_type: str
    payload: Any = None
    """What triggers are matched by."""
    input: Any = None
    """What the trigger receives; None hands it the payload."""
    correlation_id: str | None = None
    instance_id: str | None = None
    """The id that the started instance gets; only where one definition matches."""


class DispatchResume(Request, frozen=True, kw_only=True, tag="resume"):
    """Every instance that waits at a bookmark of that type and payload is to go on."""

    activity_type: str
    payload: Any = None
    """What bookmarks are matched by."""
    input: Any = None
    """What the resumed activity receives; None hands it the payload."""
    correlation_id: str | None = None
    instance_id: str | None = None


class DispatchStimulus(Request, frozen=True, kw_only=True, tag="stimulus"):
    """Something happened. Addressed to an instance, a correlation id or a key: taken by the oldest bookmark that fits, once.
    Addressed to nobody it is a broadcast: all that fit now take it."""

    type: str = EVENT
    payload: Any = None
    """What triggers and bookmarks are matched by; for an event see `event_name`."""
    input: Any = None
    """What whoever takes it receives; None hands it the payload."""
    event_name: str | None = None
    """The stimulus is an event of this name; `payload` is then what it brings."""
    correlation_id: str | None = None
    instance_id: str | None = None
    key: Any = None
    """For events: those that wait with `wait_for(…, key=…)`."""
    broadcast: bool = False
    """Also where a correlation id is given: all that carry it."""


DispatchRequest = DispatchDefinition | DispatchInstance | DispatchTrigger | DispatchResume | DispatchStimulus


class Dispatched(Struct, frozen=True, kw_only=True):
    """Which instances a request concerns."""

    instance_ids: tuple[str, ...] = ()
    """Started or to be resumed, in order of their matching."""
    status: str = Status.PENDING
    """Of the first of them as far as it is known: `pending` until a burst was waited for."""
    existing: tuple[str, ...] = ()
    """Instances that hold the idempotency key or the place (activation): for these nothing was started."""
    deleted: bool = False
    """The instance that holds the key was deleted since."""

    @property
    def instance_id(self) -> str | None:
        """The first instance that the answer names."""
        return next(iter((*self.instance_ids, *self.existing)), None)

    @property
    def started(self) -> bool:
        return bool(self.instance_ids)

    @property
    def count(self) -> int:
        return len(self.instance_ids)


class Receipt(Struct, frozen=True, kw_only=True):
    """A stimulus was accepted; whoever takes it up matches it."""

    stimulus_id: str
    existing: bool = False
    """It had been accepted before, with the same idempotency key."""


DispatchResponse = Dispatched | Receipt


# -- over a wire -------------------------------------------------------------------------------------------------------

_DATA = ("input", "payload", "properties", "trigger_payload", "key")
"""Fields that hold values of users: written as typed values, so that a date comes back as a date."""

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(DispatchRequest).decode


def encode_request(request: DispatchRequest, types: TypeRegistry | None = None) -> bytes:
    """JSON, for dispatchers that carry requests elsewhere."""
    return _encode(_with_data(request, lambda data: values.encode(data, types)))


def decode_request(data: bytes, types: TypeRegistry | None = None) -> DispatchRequest:
    return _with_data(_decode(data), lambda plain: values.decode(plain, types or TypeRegistry()))


def _with_data(request: DispatchRequest, change: Any) -> DispatchRequest:
    found = {name: getattr(request, name) for name in _DATA if hasattr(request, name)}
    changed = {name: change(value) for name, value in found.items() if value is not None}
    return msgspec.structs.replace(request, **changed)
