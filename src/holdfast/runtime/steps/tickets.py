"""What a step was taken by: a row of the work table or a ticket of a broker. Each can be let go, given back, or put off."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING, Protocol

from holdfast.errors import UnreadableTicket
from holdfast.model.ticket import Ticket
from holdfast.model.work import NO_OWNER, EffectRef, WorkRow
from holdfast.ports import Delivery
from holdfast.runtime.commits.placement import put_off_row, read_step

if TYPE_CHECKING:
    from holdfast.runtime.cluster.node import Node


class Slip(Protocol):
    instance_id: str
    ref: EffectRef
    content: str
    """What the instance pinned, if it is known."""

    async def settle(self) -> None:
        """The step is somebody's: the slip has done its work."""

    async def give_back(self) -> None:
        """It cannot be taken here."""

    async def put_off(self, pause: timedelta) -> None:
        """It may not begin yet."""


class RowSlip:
    def __init__(self, node: Node, row: WorkRow) -> None:
        assert row.instance_id is not None
        self._node = node
        self._row = row
        self.instance_id = row.instance_id
        self.ref = EffectRef(*read_step(row), NO_OWNER)
        self.content = row.content
        self.deleting: asyncio.Task[None] | None = None
        """In hand until then, or it would be claimed again."""

    async def settle(self) -> None:
        self.deleting = self._node.use_up(self._row.id)

    async def give_back(self) -> None:
        """It was never taken away."""

    async def put_off(self, pause: timedelta) -> None:
        await self._node.store.defer([self._row], await self._node.store.now() + pause)


class TicketSlip:
    def __init__(self, node: Node, delivery: Delivery) -> None:
        ticket = delivery.ticket
        self._node = node
        self._delivery = delivery
        self.instance_id, self.ref = step_of(ticket)
        self.content = ticket.content

    async def settle(self) -> None:
        await self._delivery.ack()

    async def give_back(self) -> None:
        await self._delivery.nack()

    async def put_off(self, pause: timedelta) -> None:
        """The work table holds it back: a broker would hand it out again at once, or count how often."""
        store = self._node.store
        now = await store.now()
        await store.enqueue([put_off_row(self._delivery.ticket, self._node.tenant, now, now + pause)])
        await self._delivery.ack()


class TicketAlone:
    """A ticket whose carrier settles by itself."""

    def __init__(self, ticket: Ticket) -> None:
        self.instance_id, self.ref = step_of(ticket)
        self.content = ticket.content

    async def settle(self) -> None: ...

    async def give_back(self) -> None: ...

    async def put_off(self, pause: timedelta) -> None: ...


def step_of(ticket: Ticket) -> tuple[str, EffectRef]:
    if ticket.instance_id is None or ticket.execution is None:
        raise UnreadableTicket("The ticket names no step: give it instance_id and execution.")
    return ticket.instance_id, EffectRef(ticket.execution, ticket.attempt, NO_OWNER)
