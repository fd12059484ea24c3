"""Step dispatcher on a transport: each step is published as a ticket, which contains only ids."""

from __future__ import annotations

from datetime import timedelta

from holdfast.model.ticket import DefinitionRef, Ticket
from holdfast.model.work import DEFAULT_QUEUE, EffectRow
from holdfast.ports import StepContext, Transport


class TransportSteps:
    """Implements `holdfast.ports.StepDispatcher`. Returns no id, because a ticket has none."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def enqueue_step(self, context: StepContext, definition: DefinitionRef, step: EffectRow) -> str | None:
        ticket = ticket_of(context, definition, step)
        await self._transport.publish(ticket.queue, [ticket])
        return None

    async def schedule_step(
        self, context: StepContext, definition: DefinitionRef, step: EffectRow, delay: timedelta
    ) -> str | None:
        ticket = ticket_of(context, definition, step)
        await self._transport.schedule(ticket.queue, ticket, delay)
        return None


def ticket_of(context: StepContext, definition: DefinitionRef, step: EffectRow) -> Ticket:
    """Make the ticket of a step. Trigger data and inputs stay in the store."""
    return Ticket(
        tenant=step.tenant,
        instance_id=step.instance_id,
        execution=step.execution,
        attempt=step.attempt,
        content=definition.content,
        queue=step.queue or DEFAULT_QUEUE,
        priority=context.priority,
        principal=context.principal,
        trace=context.trace,
    )
