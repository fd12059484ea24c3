"""The sender of stimuli, which start or resume workflows (rule H12).

await runtime.stimuli.send(Approval(approved=True), key=order.id)        an event, by its class
await runtime.stimuli.send("Event", data, name="OrderPlaced")            an event, by its name; a broadcast
await runtime.stimuli.send("MyTrigger", {"path": "/orders"}, input=body) any other type: matched by its payload
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import msgspec
from msgspec import Struct

from holdfast.errors import InstanceAtRest, InstanceNotFound
from holdfast.model import values
from holdfast.model.requests import EVENT, DispatchStimulus, Receipt
from holdfast.model.stored import BookmarkRow
from holdfast.model.values import SCALARS
from holdfast.runtime.commits.work_rows import Stimulus
from holdfast.runtime.dispatchers import validation
from holdfast.runtime.dispatchers.host import DispatchHost
from holdfast.runtime.plans.triggers import AWAITED, awaited_key
from holdfast.runtime.stimuli import matching
from holdfast.runtime.stimuli.inbox_expiry import ExpiredStimulus

SHOWN_MAX = 100
"""Bookmarks that the explanation of a broadcast lists."""


class Explanation(Struct, frozen=True, kw_only=True):
    """The effect that a stimulus would have if it were sent now."""

    broadcast: bool
    starts: tuple[str, ...]
    """Definitions that the stimulus would start."""
    resumes: tuple[str, ...]
    """`instance#bookmark`; at most 100 for a broadcast."""
    kept: str | None
    """The retention if no bookmark takes it: `while the instance lives`, `24 h`, `10 min`; None: it would be dropped."""


class StimulusSender:
    def __init__(self, host: DispatchHost) -> None:
        self._host = host

    async def send(
        self,
        type: Any,
        payload: Any = None,
        *,
        name: str | None = None,
        input: Any = None,
        correlation_id: str | None = None,
        instance_id: str | None = None,
        key: Any = None,
        broadcast: bool = False,
        idempotency_key: str | None = None,
        delay: timedelta | None = None,
        priority: int = 0,
        queue: str | None = None,
        principal: str | None = None,
        trace: str | None = None,
        wait: timedelta | None = None,
    ) -> Receipt:
        """Dispatch a stimulus and return its receipt. `wait` waits until this node has matched it.

        A stimulus with an address (instance, correlation id or key) goes to the oldest bookmark that fits, once. Without an
        address it is a broadcast to all bookmarks that fit.
        """
        request = self.request(
            type,
            payload,
            name=name,
            input=input,
            correlation_id=correlation_id,
            instance_id=instance_id,
            key=key,
            broadcast=broadcast,
            idempotency_key=idempotency_key,
            delay=delay,
            priority=priority,
            queue=queue,
            principal=principal,
            trace=trace,
        )
        answer = await self._host.dispatcher.dispatch(request, wait=wait)
        assert isinstance(answer, Receipt)
        if wait is not None:
            await self._host.wait_settled(answer.stimulus_id, wait)
        return answer

    async def event(self, event_name: str, payload: Any = None, **more: Any) -> Receipt:
        """Send an event by its name."""
        return await self.send(EVENT, payload, name=event_name, **more)

    @staticmethod
    def request(type: Any, payload: Any = None, *, name: str | None = None, **more: Any) -> DispatchStimulus:
        """The dispatch request of a stimulus."""
        if not isinstance(type, str):
            cls = type if isinstance(type, builtin_type) else type.__class__
            name = name or cls.__name__
            payload = payload if isinstance(type, builtin_type) else type
            type = EVENT
        given = {field: plain(value) for field, value in more.items()}
        return DispatchStimulus(type=type, payload=plain(payload), event_name=name, **given)

    async def explain(self, type: Any, payload: Any = None, **more: Any) -> Explanation:
        """The effect that the stimulus would have now; nothing is sent."""
        request = validation.with_endpoint_key(self.request(type, payload, **more))
        found = Stimulus(
            id="",
            type=request.type,
            event_name=request.event_name,
            payload=values.encode(request.payload),
            correlation_id=request.correlation_id,
            instance_id=request.instance_id,
            key=None if request.key is None else values.encode(request.key),
            broadcast=request.broadcast,
        )
        host = self._host
        starts = [
            row.definition_id
            for row in await host.plans.current.triggers([matching.trigger_key(found)])
            if row.type == found.type and found.instance_id is None
        ]
        if found.is_broadcast:
            marks = await host.matcher.page(host.tenant, found, SHOWN_MAX)
        else:
            marks = await self._addressed(found)
        return Explanation(
            broadcast=found.is_broadcast,
            starts=tuple(starts),
            resumes=tuple(f"{mark.instance_id}#b{mark.seq}" for mark in marks),
            kept=await self._kept(found),
        )

    async def _addressed(self, found: Stimulus) -> list[BookmarkRow]:
        try:
            one = await self._host.matcher.oldest(self._host.tenant, found)
        except (InstanceAtRest, InstanceNotFound):
            return []
        return [] if one is None else [one.bookmark]

    async def _kept(self, found: Stimulus) -> str | None:
        if found.instance_id is not None:
            return "while the instance lives"
        if not found.is_broadcast:
            return "24 h"
        keys = [awaited_key(found.type), *([awaited_key(found.type, found.event_name)] if found.event_name else [])]
        awaited = await self._host.plans.current.triggers(keys)
        return "10 min" if any(row.type == AWAITED for row in awaited) else None

    async def expired(self, limit: int = 100) -> Sequence[ExpiredStimulus]:
        """Stimuli that expired in the inbox within the last week, latest first."""
        return await self._host.expiry.list(self._host.tenant, limit)

    async def replay_expired(self, ids: Sequence[str]) -> Sequence[str]:
        """Match expired stimuli again; returns the ids of those that were sent. Others are unknown or were replayed before."""
        rows = await self._host.expiry.replay(self._host.tenant, ids)
        self._host.take_own(rows)
        return [row.id.rpartition(".r")[0] for row in rows]

    @property
    def counts(self) -> dict[str, int]:
        """Outcomes of stimuli on this node since it started: delivered, started, refused, kept, forgotten, unread, expired,
        swept."""
        return self._host.router.counts


builtin_type = type


def plain(value: Any) -> Any:
    """The fields of an object of the sender's classes; the receiver converts them to the type that it waits for."""
    if value.__class__ in SCALARS:
        return value
    if dataclasses.is_dataclass(value) and not isinstance(value, builtin_type):
        return {item.name: plain(getattr(value, item.name)) for item in dataclasses.fields(value)}
    if isinstance(value, msgspec.Struct):
        return {name: plain(item) for name, item in msgspec.structs.asdict(value).items()}
    return value
