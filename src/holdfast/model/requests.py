"""Requests to a dispatcher and its responses, as serialisable data.

    DispatchDefinition   start an instance of a definition
    DispatchInstance     continue an instance: resume it, or run its failed activities again
    DispatchTrigger      start every published workflow that has a matching trigger
    DispatchResume       resume every instance that waits at a matching bookmark
    DispatchStimulus     both, matched later by the worker that processes it (rule H12)

The first four are matched before anything is queued; the response has the ids of the instances concerned. The response to
a stimulus is a receipt.
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
"""Stimulus type of events: the Event activity and `wait_for` wait for it."""


class Request(Struct, frozen=True, kw_only=True, tag_field="request"):
    """Fields that every request has."""

    priority: int = 0
    """Higher runs first."""
    queue: str | None = None
    """Queue whose workers execute the request; None is the default queue."""
    idempotency_key: str | None = None
    """A repeated key has no further effect; with another body it is refused (rule M4)."""
    delay: timedelta | None = None
    """Minimum time from now until the execution."""
    principal: str | None = None
    """The principal on whose behalf the request is made; stored with the instance."""
    trace: str | None = None
    """W3C trace context of the sender."""


class DispatchDefinition(Request, frozen=True, kw_only=True, tag="definition"):
    """Start a new instance of a definition. It exists as `pending` when the dispatcher responds."""

    definition_id: str
    version: int | Which = Which.PUBLISHED
    input: Mapping[str, Any] = {}
    correlation_id: str | None = None
    instance_id: str | None = None
    """Id of the new instance; None generates one."""
    name: str | None = None
    trigger_activity_id: str | None = None
    """Start at this trigger instead of at the beginning."""
    trigger_payload: Any = None
    """Payload for that trigger."""
    properties: Mapping[str, Any] = {}
    """Stored with the instance; not visible to the workflow."""
    parent_id: str | None = None
    """The instance that requested the start, if any; used only for navigation."""


class DispatchInstance(Request, frozen=True, kw_only=True, tag="instance"):
    """Continue an instance. A suspended instance resumes at the given bookmark, at the bookmark of the given activity, or at
    its only bookmark. A faulted instance runs its failed activities again."""

    instance_id: str
    input: Mapping[str, Any] = {}
    """Merged over the workflow's inputs by key; a resumed activity receives all of them."""
    bookmark_id: str | None = None
    activity_id: str | None = None
    """Id as in the definition."""
    node_id: str | None = None
    """Id inside workflows that are used as activities: ids from the outside in, joined by `/`."""


class DispatchTrigger(Request, frozen=True, kw_only=True, tag="trigger"):
    """Start an instance of every published workflow with a trigger of that type and payload. With `instance_id`, nothing is
    started: that instance is resumed at its bookmarks of that type and payload."""

    activity_type: str
    payload: Any = None
    """Matched against triggers."""
    input: Any = None
    """Value that the trigger receives; None passes the payload."""
    correlation_id: str | None = None
    instance_id: str | None = None
    """The instance to resume, as in Elsa."""


class DispatchResume(Request, frozen=True, kw_only=True, tag="resume"):
    """Resume every instance that waits at a bookmark of that type and payload."""

    activity_type: str
    payload: Any = None
    """Matched against bookmarks."""
    input: Any = None
    """Value that the resumed activity receives; None passes the payload."""
    correlation_id: str | None = None
    instance_id: str | None = None


class DispatchStimulus(Request, frozen=True, kw_only=True, tag="stimulus"):
    """Deliver a stimulus. Addressed to an instance, a correlation id or a key, the oldest matching bookmark consumes it, once.
    Without an address it is a broadcast: all bookmarks that match now receive it."""

    type: str = EVENT
    payload: Any = None
    """Matched against triggers and bookmarks; for events see `event_name`."""
    input: Any = None
    """Value that the receiver gets; None passes the payload."""
    event_name: str | None = None
    """Makes the stimulus an event of this name; `payload` is then the payload of the event."""
    correlation_id: str | None = None
    instance_id: str | None = None
    key: Any = None
    """For events: matches `wait_for(…, key=…)`."""
    broadcast: bool = False
    """Deliver to all matching bookmarks even if a correlation id is given."""


DispatchRequest = DispatchDefinition | DispatchInstance | DispatchTrigger | DispatchResume | DispatchStimulus


class Dispatched(Struct, frozen=True, kw_only=True):
    """Instances that a request concerns."""

    instance_ids: tuple[str, ...] = ()
    """Started or resumed instances, in matching order."""
    status: str = Status.PENDING
    """Status of the first instance as far as known: `pending` unless the dispatcher waited for a burst."""
    existing: tuple[str, ...] = ()
    """Instances that hold the idempotency key or the activation slot; nothing was started for them."""
    deleted: bool = False
    """The instance that holds the key has been deleted."""

    @property
    def instance_id(self) -> str | None:
        """The first instance of the response."""
        return next(iter((*self.instance_ids, *self.existing)), None)

    @property
    def started(self) -> bool:
        return bool(self.instance_ids)

    @property
    def count(self) -> int:
        return len(self.instance_ids)


class Receipt(Struct, frozen=True, kw_only=True):
    """A stimulus was accepted; the worker that processes it matches it."""

    stimulus_id: str
    existing: bool = False
    """It was already accepted with the same idempotency key."""


DispatchResponse = Dispatched | Receipt


# -- serialization -----------------------------------------------------------------------------------------------------

_DATA = ("input", "payload", "properties", "trigger_payload", "key")
"""Fields with user values: written as typed values, so that a date is read back as a date."""

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(DispatchRequest).decode


def encode_request(request: DispatchRequest, types: TypeRegistry | None = None) -> bytes:
    """JSON, for dispatchers that send requests to another process."""
    return _encode(_with_data(request, lambda data: values.encode(data, types)))


def decode_request(data: bytes, types: TypeRegistry | None = None) -> DispatchRequest:
    return _with_data(_decode(data), lambda plain: values.decode(plain, types or TypeRegistry()))


def _with_data(request: DispatchRequest, change: Any) -> DispatchRequest:
    found = {name: getattr(request, name) for name in _DATA if hasattr(request, name)}
    changed = {name: change(value) for name, value in found.items() if value is not None}
    return msgspec.structs.replace(request, **changed)
