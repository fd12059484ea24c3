"""Sends steps to the queue's carrier: after the commit that recorded them, and again if no node took them.

A ticket that no node took may be lost, or wait behind many others, or its broker is unavailable. So it is sent again with
growing pauses, and while a broker is unavailable only one ticket at a time probes it. On the work table, the ticket of an
attempt after a lost one is sent again soon: the node that returned the step to its queue may have died before it wrote it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from time import monotonic
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from holdfast.errors import DefinitionError, DelayUnsupported, InstanceNotFound, StoreError, TransportError
from holdfast.execution.live import LiveInstance
from holdfast.model.stored import InstanceKey, InstanceRow
from holdfast.model.ticket import DefinitionRef
from holdfast.model.work import EffectRow
from holdfast.ports import StepDispatcher, Store
from holdfast.runtime.commits.instance_cache import InstanceCache
from holdfast.runtime.commits.placement import Placement, is_stale, resend_pause, step_priority, step_row
from holdfast.runtime.observability.outage_log import OutageLog
from holdfast.runtime.observability.throttled_log import ThrottledLog
from holdfast.runtime.plans.plans import Plans
from holdfast.runtime.service import BackgroundTasks

RESENT_MAX = 10_000
"""Steps whose last resend is remembered."""
NO_PAUSE = timedelta(0)
TICKET_PAUSE = timedelta(seconds=1)
"""Time that a node has to write the ticket of a step that it returned to its queue; then other nodes write it."""
SEND_AGAIN_SECONDS = 5.0
"""Time for which a stopping node waits for a broker."""

_Attempt = tuple[InstanceKey, int, int]


class SentStep(Struct, frozen=True, kw_only=True):
    """Implements `holdfast.ports.StepContext`."""

    tenant: str
    instance_id: str
    principal: str = ""
    trace: str = ""
    priority: int = 0
    trigger_data: Any = None


class StepSender:
    def __init__(
        self,
        store: Store,
        placement: Placement,
        cache: InstanceCache,
        plans: Plans,
        log: OutageLog,
        background: BackgroundTasks,
    ) -> None:
        self._store = store
        self._placement = placement
        self._cache = cache
        self._plans = plans
        self._log = log
        self._background = background
        self._resent: dict[_Attempt, tuple[float, timedelta]] = {}
        """When each step was last sent again, or first seen without an owner, and the pause until the next resend; the oldest
        first."""
        self._is_unavailable = False
        """The last send failed: one ticket at a time probes the broker."""
        self._is_probing = False
        self._unsent = ThrottledLog()

    async def stop(self) -> None:
        await self._background.stop()

    def send(self, live: LiveInstance, instance: InstanceRow, effects: Sequence[EffectRow]) -> None:
        """Send steps that were just committed. On the work table they are rows of that commit already."""
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
        for row in effects:
            delay = row.created - instance.updated
            prioritized = replace(context, priority=step_priority(live.plan, row))
            self._background.start(self._dispatch(carrier, prioritized, instance, row, delay))

    def may_lack_ticket(self, row: EffectRow, now: datetime) -> bool:
        """Whether a step that no node owns may have lost its ticket, and the pause since the last resend is over."""
        last = self._resent.get(_attempt_of(row))
        if last is not None:
            return monotonic() - last[0] >= last[1].total_seconds()
        if row.attempt > 1 and self._placement.rows and not is_stale(row, now):
            self._remember(_attempt_of(row), TICKET_PAUSE)
            return False
        return is_stale(row, now)

    def resend(self, row: EffectRow) -> None:
        """Send a step again that no node took, unless its pause still lasts. It runs in the background: an unavailable broker
        must not delay the sweep."""
        if self._is_unavailable and self._is_probing:
            return
        attempt, now = _attempt_of(row), monotonic()
        sent_at, pause = self._resent.get(attempt, (now, NO_PAUSE))
        if now - sent_at < pause.total_seconds():
            return
        self._remember(attempt, resend_pause(pause))
        self._is_probing = self._is_unavailable
        self._background.start(self._resend(row))

    def _remember(self, attempt: _Attempt, pause: timedelta) -> None:
        self._resent.pop(attempt, None)
        while len(self._resent) >= RESENT_MAX:
            del self._resent[next(iter(self._resent))]
        self._resent[attempt] = monotonic(), pause

    async def give_back(self, row: EffectRow, ticket: str) -> None:
        """Send a step that a stopping node gives back, with a new ticket of this id. If the broker does not answer, the sweep
        of another node sends it."""
        with suppress(TimeoutError):
            async with asyncio.timeout(SEND_AGAIN_SECONDS):
                await self._resend(row, given_back=ticket)

    async def _resend(self, row: EffectRow, *, given_back: str = "") -> None:
        try:
            instance = await self._cache.row(InstanceKey(row.tenant, row.instance_id))
            priority = await self._priority(instance, row)
            now = await self._store.now()
            if self._placement.dispatcher is None:
                await self._store.enqueue([step_row(row, instance.content, now, priority, given_back=given_back)])
            else:
                context = SentStep(tenant=row.tenant, instance_id=row.instance_id, priority=priority)
                await self._dispatch(self._placement.dispatcher, context, instance, row, row.created - now)
        except InstanceNotFound:
            return
        except StoreError:
            self._log.warning("a step of instance %s could not be sent again; the sweeper retries", row.instance_id)
        finally:
            self._is_probing = False

    async def _priority(self, instance: InstanceRow, row: EffectRow) -> int:
        try:
            return step_priority(await self._plans.of(instance.tenant).plan(instance.content), row)
        except DefinitionError:
            return 0  # This node lacks the code; the node that runs the step has it.

    async def _dispatch(
        self, carrier: StepDispatcher, context: SentStep, instance: InstanceRow, row: EffectRow, delay: timedelta
    ) -> None:
        definition = DefinitionRef(instance.definition_id, instance.definition_version, instance.content)
        try:
            if delay <= NO_PAUSE:
                await carrier.enqueue_step(context, definition, row)
            else:
                try:
                    await carrier.schedule_step(context, definition, row, delay)
                except DelayUnsupported:
                    await self._store.enqueue([step_row(row, instance.content, instance.updated, context.priority)])
            self._is_unavailable = False
        except (TransportError, StoreError) as error:
            self._is_unavailable = True
            self._unsent.warning(
                "a step of instance %s could not be sent; the sweeper retries: %s", row.instance_id, error
            )


def _attempt_of(row: EffectRow) -> _Attempt:
    return InstanceKey(row.tenant, row.instance_id), row.execution, row.attempt
