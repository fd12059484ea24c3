"""Sending steps: after the commit that recorded them, and again where nobody took them.

A ticket that nobody took may be lost, or only wait behind many others, or its broker is away. So it is sent again with growing
pauses, and while a broker is away one ticket asks for all whether it is back.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from datetime import datetime, timedelta
from time import monotonic
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from holdfast.errors import DefinitionError, DelayUnsupported, InstanceNotFound, StoreError, TransportError
from holdfast.execution.live import LiveInstance
from holdfast.model.stored import InstanceRow
from holdfast.model.ticket import DefinitionRef
from holdfast.model.work import EffectRow
from holdfast.ports import StepDispatcher
from holdfast.runtime.commits.placement import Placement, step_priority, step_row
from holdfast.runtime.observability.throttled_log import Sparing

if TYPE_CHECKING:
    from holdfast.runtime.cluster.node import Node

RESEND = timedelta(seconds=30)
"""A step that nobody took for so long is sent again; the next time after twice as long, and so on."""
RESEND_MAX = timedelta(minutes=30)
SENT_MAX = 10_000

_Key = tuple[str, int, int]


class SentStep(Struct, frozen=True, kw_only=True):
    """Implements `holdfast.ports.StepContext`."""

    tenant: str
    instance_id: str
    principal: str = ""
    trace: str = ""
    priority: int = 0
    trigger_data: Any = None


class StepSending:
    def __init__(
        self, node: Node, placement: Placement, in_background: Callable[[Coroutine[Any, Any, Any]], None]
    ) -> None:
        self._node = node
        self._placement = placement
        self._in_background = in_background
        self._again: dict[_Key, tuple[float, timedelta]] = {}
        """When each was sent again, and how long after that it may be once more; the oldest first."""
        self._away = False
        """The last that was sent could not be: one at a time asks whether the broker is back."""
        self._asking = False
        self._unsent = Sparing()

    def send(self, live: LiveInstance, instance: InstanceRow, queued: Sequence[EffectRow]) -> None:
        carrier = self._placement.dispatcher
        if carrier is None:
            return
        context = SentStep(
            tenant=instance.tenant,
            instance_id=instance.id,
            principal=live.principal or "",
            trace=live.trace or "",
            trigger_data=live.trigger_payload,
        )
        for row in queued:
            delay = row.created - instance.updated
            known = replace(context, priority=step_priority(live.plan, row))
            self._in_background(self._dispatch(carrier, known, instance, row, delay))

    def resend(self, row: EffectRow) -> None:
        """Nobody has taken it. Not waited for: a broker that is away must not hold up the sweep."""
        if self._away and self._asking:
            return
        key, now = (row.instance_id, row.execution, row.attempt), monotonic()
        sent, pause = self._again.pop(key, (now, timedelta(0)))
        if now - sent < pause.total_seconds():
            self._again[key] = sent, pause
            return
        while len(self._again) >= SENT_MAX:
            del self._again[next(iter(self._again))]
        self._again[key] = now, min(pause * 2, RESEND_MAX) or RESEND
        self._asking = self._away
        self._in_background(self._resend(row))

    async def _resend(self, row: EffectRow) -> None:
        try:
            instance = await self._node.row(row.instance_id)
            priority = await self._priority(instance, row)
            if self._placement.dispatcher is None:
                now = await self._node.store.now()
                await self._node.store.enqueue([step_row(row, instance.content, now, priority)])
            else:
                context = SentStep(tenant=row.tenant, instance_id=row.instance_id, priority=priority)
                delay = row.created - await self._node.store.now()
                await self._dispatch(self._placement.dispatcher, context, instance, row, delay)
        except InstanceNotFound:
            return
        finally:
            self._asking = False

    async def _priority(self, instance: InstanceRow, row: EffectRow) -> int:
        try:
            return step_priority(await self._node.pins.plan(instance.content), row)
        except DefinitionError:
            return 0  # Its code is not here; whoever runs it has it.

    async def _dispatch(
        self, carrier: StepDispatcher, context: SentStep, instance: InstanceRow, row: EffectRow, delay: timedelta
    ) -> None:
        definition = DefinitionRef(instance.definition_id, instance.definition_version, instance.content)
        try:
            if delay <= timedelta(0):
                await carrier.enqueue_step(context, definition, row)
            else:
                try:
                    await carrier.schedule_step(context, definition, row, delay)
                except DelayUnsupported:
                    await self._node.store.enqueue(
                        [step_row(row, instance.content, instance.updated, context.priority)]
                    )
            self._away = False
        except (TransportError, StoreError) as error:
            self._away = True
            self._unsent.warn(
                "a step of instance %s could not be sent; the sweeper tries again: %s", row.instance_id, error
            )


def is_stale(row: EffectRow, now: datetime) -> bool:
    """Whether a step has waited so long that its ticket may be lost."""
    return bool(row.queue) and row.created + RESEND <= now
