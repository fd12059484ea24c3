"""Tickets of steps: a row of the work table, or a message of a broker. A ticket is settled, given back, or waits."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from typing import Protocol

from msgspec.structs import replace

from holdfast.errors import UnreadableTicket
from holdfast.model.stored import InstanceKey
from holdfast.model.ticket import Ticket
from holdfast.model.work import NO_OWNER, EffectRef, WorkRow
from holdfast.ports import Delivery, Store
from holdfast.runtime.commits.placement import put_off_row, read_step
from holdfast.runtime.commits.spent_rows import SpentRows
from holdfast.runtime.plans.obstacles import content_of
from holdfast.runtime.steps.limits.per_value import Value


class StepTicket(Protocol):
    key: InstanceKey
    ref: EffectRef
    content: str
    """The content hash that the instance pinned; empty if the ticket does not carry it."""

    async def settle(self) -> None:
        """A node owns the step: the ticket is spent."""

    async def give_back(self) -> None:
        """This node cannot take the step; another may."""

    values: Sequence[Value] | None
    """The values by which limits count the step, if they are known."""

    async def wait(self, values: Sequence[Value], pause: timedelta) -> None:
        """The limits of these values leave no room for the step; there may be room after the pause."""

    async def park(self, name: str) -> None:
        """This process lacks code or classes: another one takes the step (rule H10). `name` names the obstacle."""


class RowTicket:
    """A row of the work table. It stays there until it is settled."""

    def __init__(self, store: Store, spent: SpentRows, row: WorkRow, values: Sequence[Value] | None = None) -> None:
        assert row.instance_id is not None
        self._store = store
        self._spent = spent
        self._row = row
        self.key = InstanceKey(row.tenant, row.instance_id)
        self.ref = EffectRef(*read_step(row), NO_OWNER)
        self.content = content_of(row.content)
        self.deletion: asyncio.Task[None] | None = None
        """The row must count as in hand until the ticket is settled, else this node claims it again."""
        self.values = values
        self.pause: timedelta | None = None
        """The time until there may be room, for a step that must wait."""

    async def settle(self) -> None:
        self.deletion = self._spent.delete(self._row.tenant, self._row.id)

    async def give_back(self) -> None:
        """The row is still in the table."""

    async def wait(self, values: Sequence[Value], pause: timedelta) -> None:
        """The intake keeps the row."""
        self.values, self.pause = values, pause

    async def park(self, name: str) -> None:
        row = self._row
        if row.content != name:
            await self._store.move_work(row, attempts=row.attempts, due=row.due, content=name)


class BrokerTicket:
    """A delivery of a broker, acknowledged when it is settled."""

    def __init__(self, store: Store, delivery: Delivery) -> None:
        self._store = store
        self._delivery = delivery
        self.key, self.ref = step_of(delivery.ticket)
        self.content = delivery.ticket.content
        self.values: Sequence[Value] | None = None

    async def settle(self) -> None:
        await self._delivery.ack()

    async def give_back(self) -> None:
        await self._delivery.nack()

    async def wait(self, values: Sequence[Value], pause: timedelta) -> None:
        """The step waits on the work table: a broker would deliver it again at once, or count the deliveries."""
        now = await self._store.now()
        await self._store.enqueue([put_off_row(self._delivery.ticket, self.key.tenant, now, now)])
        await self._delivery.ack()

    async def park(self, name: str) -> None:
        """Park the step on the work table: a broker would deliver it again at once."""
        now = await self._store.now()
        row = put_off_row(self._delivery.ticket, self.key.tenant, now, now)
        await self._store.enqueue([replace(row, content=name)])
        await self._delivery.ack()


class CarriedTicket:
    """A ticket of a carrier that settles it by itself, such as a Celery task."""

    def __init__(self, ticket: Ticket) -> None:
        self.key, self.ref = step_of(ticket)
        self.content = ticket.content
        self.values: Sequence[Value] | None = None

    async def settle(self) -> None: ...

    async def give_back(self) -> None: ...

    async def wait(self, values: Sequence[Value], pause: timedelta) -> None: ...

    async def park(self, name: str) -> None: ...


def step_of(ticket: Ticket) -> tuple[InstanceKey, EffectRef]:
    """The instance and the attempt that a ticket names; raises `UnreadableTicket`."""
    if ticket.instance_id is None or ticket.execution is None:
        raise UnreadableTicket("The ticket names no step: give it instance_id and execution.")
    return InstanceKey(ticket.tenant, ticket.instance_id), EffectRef(ticket.execution, ticket.attempt, NO_OWNER)
