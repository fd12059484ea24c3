"""Port of transports: the obligations of a broker adapter that carries tickets to workers.

The store is the source of truth; a ticket only says where to look. Tickets may be lost, repeated and reordered: the sweeper
sends unclaimed tickets again, and a worker drops stale ones. A transport should still avoid losses, since each one delays
work. Run `holdfast.testing.transport_contract` against your implementation.
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
    """A ticket that was delivered to a consumer. The first call of `ack`, `nack` or `reject` settles it; further calls do
    nothing.

    Settle a delivery as soon as the store records the owner of the work, not when the work is done. An unsettled delivery is
    redelivered to any consumer when its consumer ends or dies, and not earlier. Settling never raises because of a broken
    connection: the ticket is then redelivered, and its receiver compares it with the store.
    """

    @property
    def ticket(self) -> Ticket: ...
    @property
    def queue(self) -> str:
        """The queue it was consumed from."""

    @property
    def redelivered(self) -> bool:
        """Whether it was delivered before. A hint: False proves nothing."""

    async def ack(self) -> None:
        """Settle as accepted: it is not redelivered."""

    async def nack(self, *, requeue: bool = True) -> None:
        """Return it to the queue for redelivery soon, to this consumer or another. With `requeue=False` it is dropped: the
        store sends it again if it is still valid."""

    async def reject(self, reason: str) -> None:
        """Move it to the dead letters of its queue, with the reason. It is not redelivered."""


class Consumer(Protocol):
    """An iterator of deliveries. It ends only after `stop`. After a lost connection it reconnects with back-off, without a
    limit, and continues."""

    def __aiter__(self) -> AsyncIterator[Delivery]: ...
    async def __anext__(self) -> Delivery: ...
    async def stop(self) -> None:
        """Stop fetching and return fetched but undelivered tickets at once. Open deliveries can be settled until the block
        ends, which lets a worker drain."""


class DeadTicket(Struct, frozen=True, kw_only=True):
    """A message in the dead letters of a queue, as bytes: it may not be a valid ticket."""

    queue: str
    data: bytes
    reason: str


class Poisoned(Struct, frozen=True, kw_only=True):
    """An undecodable message was moved to the dead letters."""

    transport: str
    queue: str
    data: bytes
    reason: str


class Disconnected(Struct, frozen=True, kw_only=True):
    """The connection broke, or a reconnect failed; the transport keeps trying."""

    transport: str
    reason: str


class Reconnected(Struct, frozen=True, kw_only=True):
    transport: str


TransportEvent = Poisoned | Disconnected | Reconnected
TransportListener = Callable[[TransportEvent], None]
"""Receives the events of a transport on the event loop. It must return at once. Exceptions that it raises are logged and
ignored."""


class Transport(Protocol):
    """Carries tickets between processes. Created from an address; bound to the event loop that opens it.

    Queue names follow `holdfast.model.ticket.checked_queue`. Queues are created on first use, shared by all processes with
    the same address and isolated from each other. Each ticket goes to one of the queue's consumers, roughly in order of
    arrival. A driver's error is never raised as it is: a `TransportError` names the remedy and chains the cause. No message
    contains a password.
    """

    name: str
    """`local`, `rabbitmq`, `nats`, `redis` …"""
    can_schedule: bool
    """Whether `schedule` works. If not, the work table delays the work."""
    can_prioritize: bool
    """Whether tickets with a higher priority overtake others. If not, use a separate queue for urgent work."""

    async def open(self) -> None:
        """Connect. Raises `TransportUnavailable` or `TransportMisconfigured`, after which it may be called again."""

    async def close(self) -> None:
        """Finish publishing, stop the consumers and return their open deliveries. Idempotent."""

    async def publish(self, queue: str, tickets: Sequence[Ticket]) -> None:
        """Return when the broker has confirmed all tickets, on disk if it can. A broken connection is retried for a limited
        time. Then `TransportUnavailable` is raised, and any of the tickets may be queued, also twice. An empty sequence is a
        no-op."""

    async def schedule(self, queue: str, ticket: Ticket, delay: timedelta) -> None:
        """Like `publish`, but deliver after the delay, at most a tenth of it late. The delayed ticket survives this process
        if the broker is durable. Raises `DelayUnsupported` if `can_schedule` is False."""

    def consume(self, queues: Sequence[str], prefetch: int = DEFAULT_PREFETCH) -> AbstractAsyncContextManager[Consumer]:
        """Deliveries of these queues, with at most `prefetch` unsettled per queue. Unsettled deliveries are returned at once
        when the block ends, and within the transport's `hold` when the process dies.

        A message that is not a ticket is never delivered: it moves to the dead letters, and the listener is notified."""

    async def dead_letters(self, queue: str, limit: int = 100) -> Sequence[DeadTicket]:
        """Rejected and undecodable messages for operators, oldest first. Reading does not remove them."""

    async def delete_queue(self, queue: str) -> None:
        """Delete a queue, its messages and its dead letters. A missing queue is not an error. A running consumer of the queue
        continues on a new, empty queue after a moment; stop consumers first."""


class StepContext(Protocol):
    """The instance data that a step dispatcher can read. Only ids, priority, principal, tenant and trace may leave the
    process; trigger data stays in the store."""

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
        """Priority of the step; higher runs first if the transport supports it."""

    @property
    def trigger_data(self) -> object: ...


class StepDispatcher(Protocol):
    """Sends a step (an effect that waits on a queue) to a worker in another process.

    Called only after the commit that wrote the effect's row. It sends a serialisable ticket, from which another process
    finds the row and re-enters the engine. The row decides: a step that is dispatched twice runs once per attempt, and a lost
    ticket is sent again. Raises a `TransportError` if sending failed; the row stays, and the sweeper retries.
    """

    async def enqueue_step(self, context: StepContext, definition: DefinitionRef, step: EffectRow) -> str | None:
        """Send a step to run now. Returns an opaque id for operators (job or message), or None if there is none."""

    async def schedule_step(
        self, context: StepContext, definition: DefinitionRef, step: EffectRow, delay: timedelta
    ) -> str | None:
        """Send a step to run after the delay: polling, back-off, delayed connections. Raises `DelayUnsupported` if the
        transport cannot delay; the caller then uses the work table."""


TransportFactory = Callable[..., Transport]
"""Creates a transport from its address without opening it."""
