"""The port of carrying: what a broker must do to bring tickets to workers.

The store holds the truth, a transport only says where to look. Tickets may therefore be lost, repeated and reordered:
the sweeper sends again what nobody took, and a worker drops what is no longer so. A transport tries hard all the same,
for each loss is late work. Run `holdfast.testing.transport_contract` against yours.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import timedelta
from typing import Protocol

from msgspec import Struct

from holdfast.model.ticket import DefinitionRef, Ticket
from holdfast.model.work import EffectRow

DEFAULT_PREFETCH = 16


class Delivery(Protocol):
    """A ticket in hand. It is settled once, by the first call of the three; further calls do nothing.

    Settle it as soon as the store knows who works on it, not when the work is done. A delivery that is never settled
    comes back, to whomever, when its consumer ends or dies, and not while the consumer lives. Settling never raises
    because the connection broke: the ticket then comes again, and whoever takes it finds out.
    """

    @property
    def ticket(self) -> Ticket: ...
    @property
    def queue(self) -> str:
        """The queue it was taken from."""

    @property
    def redelivered(self) -> bool:
        """It was in somebody's hand before. A hint: False proves nothing."""

    async def ack(self) -> None:
        """Done with: it does not come back."""

    async def nack(self, *, requeue: bool = True) -> None:
        """Not now, not here: it comes back soon, to this consumer or another. With `requeue=False` it is forgotten: the
        store will send it again if it still holds."""

    async def reject(self, reason: str) -> None:
        """Never: it goes to the dead letters of its queue with the reason, and no consumer gets it any more."""


class Consumer(Protocol):
    """Deliveries as they come. The iterator ends after `stop`, and only then: a lost connection is made again, with
    back-off, for as long as it takes, and the deliveries go on."""

    def __aiter__(self) -> AsyncIterator[Delivery]: ...
    async def __anext__(self) -> Delivery: ...
    async def stop(self) -> None:
        """Take no more; what is fetched and not handed out goes back at once. Deliveries in hand may still be settled
        until the block ends: so a worker drains."""


class DeadTicket(Struct, frozen=True, kw_only=True):
    """What lies in the dead letters of a queue: bytes, since they may be no ticket."""

    queue: str
    data: bytes
    reason: str


class Poisoned(Struct, frozen=True, kw_only=True):
    """An undecodable message was put to the dead letters."""

    transport: str
    queue: str
    data: bytes
    reason: str


class Disconnected(Struct, frozen=True, kw_only=True):
    """The connection broke, or could not be made again; it is being tried."""

    transport: str
    reason: str


class Reconnected(Struct, frozen=True, kw_only=True):
    transport: str


TransportEvent = Poisoned | Disconnected | Reconnected
TransportListener = Callable[[TransportEvent], None]
"""Told what happens to a transport, on the event loop: returns at once, and what it raises is the transport's end of
patience, not the work's: it is logged and ignored."""


class Transport(Protocol):
    """Carries tickets between processes. Made from an address, belongs to the event loop that opens it.

    Queues have names as `holdfast.model.ticket.checked_queue` allows, are made on first use and are shared by all
    processes with the same address; two queues never mix. Of a queue's consumers, each ticket goes to one. Order is by
    arrival, more or less. Errors of a driver are never shown bare: a `TransportError` names the remedy, the cause is
    chained, and no message contains a password.
    """

    name: str
    """`local`, `rabbitmq`, `nats`, `redis` …"""
    can_schedule: bool
    """Whether `schedule` works. Where it does not, the work table holds work back."""
    can_prioritise: bool
    """Whether a ticket of higher priority overtakes. Where not, give urgent work a queue of its own."""

    async def open(self) -> None:
        """Connect. Raises `TransportUnavailable` or `TransportMisconfigured`; may be called again after that."""

    async def close(self) -> None:
        """Publishing that is under way ends first; consumers stop, and what they have in hand goes back. Twice does no
        harm."""

    async def publish(self, queue: str, tickets: Sequence[Ticket]) -> None:
        """Returns when the broker has confirmed all of them, on disk where it can. A broken connection is tried again
        for a while; then `TransportUnavailable`, and any part of the tickets may be on the queue, also twice. No
        tickets: nothing happens."""

    async def schedule(self, queue: str, ticket: Ticket, delay: timedelta) -> None:
        """Like `publish`, but nobody gets it before the delay has passed; a tenth later is soon enough. It outlives this
        process if the broker is durable. Raises `DelayUnsupported` where `can_schedule` is False."""

    def consume(self, queues: Sequence[str], prefetch: int = DEFAULT_PREFETCH) -> AbstractAsyncContextManager[Consumer]:
        """Deliveries of these queues, at most `prefetch` of each unsettled. What is not settled when the block ends goes
        back at once; when the process dies, within the transport's `hold`.

        A message that is no ticket is never delivered: it goes to the dead letters, and the listener is told."""

    async def dead_letters(self, queue: str, limit: int = 100) -> Sequence[DeadTicket]:
        """For people: what was rejected or could not be read, oldest first. Reading leaves it there."""

    async def delete_queue(self, queue: str) -> None:
        """Remove a queue with all that is in it, its dead letters too. One that is not there is no error. Who consumes it
        finds a new, empty one after a moment; better that nobody does."""


class StepContext(Protocol):
    """What a step dispatcher may know of the instance. Of this, only ids, priority, principal, tenant and trace go on a wire;
    trigger data stays in the store."""

    @property
    def tenant(self) -> str: ...
    @property
    def instance_id(self) -> str: ...
    @property
    def principal(self) -> str: ...
    @property
    def trace(self) -> str: ...
    @property
    def priority(self) -> int:
        """Of the step: higher goes first, where the carrier can."""

    @property
    def trigger_data(self) -> object: ...


class StepDispatcher(Protocol):
    """Brings a step (an effect that waits on a queue) to whoever runs it, in another process or at another time.

    Called after the commit that wrote the effect's row, never before. What it hands on must survive serialisation: a
    ticket, from which another process finds the row and re-enters the engine. The row decides: a step that is dispatched
    twice runs once per attempt, one that is lost is sent again. Raises a `TransportError` when it could not hand on; the
    row stays, and the sweeper tries later.
    """

    async def enqueue_step(self, context: StepContext, definition: DefinitionRef, step: EffectRow) -> str | None:
        """To be run now. An opaque id for people (job or message), or None where the carrier has none."""

    async def schedule_step(
        self, context: StepContext, definition: DefinitionRef, step: EffectRow, delay: timedelta
    ) -> str | None:
        """To be run when the delay has passed: polling, back-off, delayed connections. Raises `DelayUnsupported` if the
        carrier cannot wait; the caller then leaves it to the work table."""


TransportFactory = Callable[..., Transport]
"""Makes a transport of its address, not open yet."""
