"""Redis streams transport: a consumer group per queue. Live consumers claim the entries of dead ones.

The queue `mail` is the stream `holdfast/mail` with the group `holdfast`. Dead letters are in the stream `holdfast/mail/dead`.
Settled entries are deleted, so a stream contains only pending work. A consumer renews its unsettled entries every third of
`hold`; entries that were not renewed for `hold` are claimed by another consumer. Durability depends on the server's
`appendonly` setting. Needs Redis 6.2 or newer, or Valkey.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from datetime import timedelta
from typing import Any
from uuid import uuid4

from redis.asyncio import BlockingConnectionPool, Redis
from redis.exceptions import (
    AuthenticationError,
    AuthorizationError,
    ConnectionError as RedisConnectionError,
    NoPermissionError,
    ReadOnlyError,
    RedisError,
    ResponseError,
    TimeoutError as RedisTimeoutError,
)

from holdfast.dispatch.address import Address, address_of
from holdfast.dispatch.backoff import pauses
from holdfast.dispatch.broker_consumer import BrokerConsumer, BrokerDelivery
from holdfast.dispatch.broker_transport import BrokerTransport
from holdfast.dispatch.connection_events import ConnectionEvents
from holdfast.errors import TransportMisconfigured
from holdfast.model.ticket import Ticket
from holdfast.ports import DeadTicket, TransportListener

_GROUP = "holdfast"
_DATA, _RETURNED, _REASON = b"ticket", b"returned", b"reason"
_DEAD_MAX = 10_000
_READ_BLOCK_TIME = timedelta(seconds=2)
"""Time for which one read blocks at the server. The next read then shows whether the server is still reachable."""
_REPLY_TIMEOUT = 10.0
"""Seconds that the server may take to reply."""
_CONNECTIONS = 16
_REFUSALS = (AuthenticationError, AuthorizationError, NoPermissionError)
_TRANSIENT = (RedisConnectionError, RedisTimeoutError, ReadOnlyError, OSError)

_DELETE_IDLE_CONSUMER = """
if #redis.call('XPENDING', KEYS[1], ARGV[1], '-', '+', 1, ARGV[2]) == 0 then
  return redis.call('XGROUP', 'DELCONSUMER', KEYS[1], ARGV[1], ARGV[2])
end
return -1
"""
"""Check and delete in one step, because deleting a consumer drops its pending entries."""


class RedisConsumer(BrokerConsumer[bytes]):
    def __init__(
        self, transport: RedisTransport, queues: Sequence[str], prefetch: int, events: ConnectionEvents
    ) -> None:
        super().__init__(queues, prefetch, events)
        self._transport = transport
        self._hold = transport.options.hold
        self._me = uuid4().hex

    async def start(self) -> None:
        for queue in self.queues:
            try:
                await self._make_group(queue)
                await self._sweep_consumers(queue)
            except _REFUSALS as error:
                raise self._transport.refused(error) from error
            except _TRANSIENT as error:
                self.events.disconnected(error)
            self.start_fetching(self._read(queue))
            self.start_fetching(self._claim(queue))
        self.start_renewal(self._renew())

    async def stop_fetching(self) -> None:
        """Requeue entries of a canceled read: Redis assigned them to this consumer, but `receive` never got them."""
        with suppress(RedisError, OSError):
            for queue in self.queues:
                key, ours = self._key(queue), self._held(queue)
                answer = await self._commands.xreadgroup(_GROUP, self._me, {key: "0"})
                for entry, fields in _entries(answer):
                    if entry not in ours:
                        await self._put_back(queue, entry, fields.get(_DATA, b""))

    async def disconnect(self) -> None:
        with suppress(RedisError, OSError):
            for queue in self.queues:
                await self._commands.eval(_DELETE_IDLE_CONSUMER, 1, self._key(queue), _GROUP, self._me)

    async def finish(self, delivery: BrokerDelivery[bytes]) -> None:
        with suppress(RedisError, OSError):
            async with self._commands.pipeline(transaction=True) as steps:
                await self._settle(delivery.queue, delivery.receipt, steps)

    async def requeue(self, deliveries: Sequence[BrokerDelivery[bytes]]) -> None:
        with suppress(RedisError, OSError):
            for delivery in deliveries:
                await self._put_back(delivery.queue, delivery.receipt, delivery.data)

    async def dead_letter(self, queue: str, data: bytes, receipt: bytes, reason: str) -> None:
        with suppress(RedisError, OSError):
            async with self._commands.pipeline(transaction=True) as steps:
                dead = self._transport.dead_key(queue)
                steps.xadd(dead, {_DATA: data, _REASON: reason}, maxlen=_DEAD_MAX, approximate=True)
                await self._settle(queue, receipt, steps)

    # -- fetching ------------------------------------------------------------------------------------------------------

    async def _read(self, queue: str) -> None:
        reads = self._transport.blocking
        block = round(_READ_BLOCK_TIME / timedelta(milliseconds=1))
        backoff = pauses()
        while room := await self.wait_for_room(queue):
            try:
                answer = await reads.xreadgroup(_GROUP, self._me, {self._key(queue): ">"}, count=room, block=block)
            except (RedisError, OSError) as error:
                await self._recover(queue, error, next(backoff))
            else:
                self.events.reconnected()
                backoff = pauses()
                await self._take(queue, _entries(answer))

    async def _claim(self, queue: str) -> None:
        """Claim entries of dead consumers, which were not renewed for `hold`."""
        idle = round(self._hold / timedelta(milliseconds=1))
        while room := await self.wait_for_room(queue):
            with suppress(*_TRANSIENT, ResponseError):  # `_read` meets the same error and reports it.
                _, entries, *_ = await self._commands.xautoclaim(self._key(queue), _GROUP, self._me, idle, count=room)
                await self._take(queue, entries, claimed=True)
            await asyncio.sleep(self._hold.total_seconds() / 2)

    async def _renew(self) -> None:
        while True:
            await asyncio.sleep(self._hold.total_seconds() / 3)
            with suppress(*_TRANSIENT, ResponseError):
                for queue in self.queues:
                    if entries := self._held(queue):
                        await self._commands.xclaim(self._key(queue), _GROUP, self._me, 0, [*entries], justid=True)

    async def _take(self, queue: str, entries: Sequence[tuple[bytes, Any]], *, claimed: bool = False) -> None:
        held = self._held(queue)
        for entry, fields in entries:
            if entry not in held and fields:
                again = claimed or _RETURNED in fields
                await self.receive(queue, fields.get(_DATA, b""), entry, redelivered=again)

    async def _recover(self, queue: str, error: Exception, pause: timedelta) -> None:
        """Create a missing group again: the queue was deleted, or the server lost its data."""
        if isinstance(error, ResponseError) and not isinstance(error, (*_TRANSIENT, *_REFUSALS)):
            if "NOGROUP" not in str(error) and "UNBLOCKED" not in str(error) and "no longer exists" not in str(error):
                raise self._transport.refused(error) from error
            with suppress(*_TRANSIENT):
                await self._make_group(queue)
                return
        self.events.disconnected(error)
        await asyncio.sleep(pause.total_seconds())

    async def _make_group(self, queue: str) -> None:
        try:
            await self._commands.xgroup_create(self._key(queue), _GROUP, id="0", mkstream=True)
        except ResponseError as error:
            if "BUSYGROUP" not in str(error):
                raise

    async def _sweep_consumers(self, queue: str) -> None:
        """Delete consumers that have been idle for long and have no pending entries."""
        old = max(self._hold * 10, timedelta(hours=1)) / timedelta(milliseconds=1)
        for consumer in await self._commands.xinfo_consumers(self._key(queue), _GROUP):
            if not consumer["pending"] and consumer["idle"] > old:
                await self._commands.eval(_DELETE_IDLE_CONSUMER, 1, self._key(queue), _GROUP, consumer["name"])

    # -- settling ------------------------------------------------------------------------------------------------------

    async def _put_back(self, queue: str, entry: bytes, data: bytes) -> None:
        async with self._commands.pipeline(transaction=True) as steps:
            steps.xadd(self._key(queue), {_DATA: data, _RETURNED: b"1"})
            await self._settle(queue, entry, steps)

    async def _settle(self, queue: str, entry: bytes, steps: Any) -> None:
        steps.xack(self._key(queue), _GROUP, entry)
        steps.xdel(self._key(queue), entry)
        await steps.execute()

    def _held(self, queue: str) -> set[bytes]:
        """Unsettled entries of one queue. Entry ids are timestamps, so two streams may use the same id."""
        return {delivery.receipt for delivery in self.unsettled if delivery.queue == queue}

    @property
    def _commands(self) -> Any:
        return self._transport.commands

    def _key(self, queue: str) -> str:
        return self._transport.key(queue)


class RedisTransport(BrokerTransport):
    name = "redis"

    def __init__(self, address: Address, *, listener: TransportListener | None = None) -> None:
        super().__init__(address.shown, address.options, listener)
        self._address = address
        self.commands: Any = None
        self.blocking: Any = None
        """A client of its own for blocking reads, which occupy one connection each."""

    def key(self, queue: str) -> str:
        return f"{self.options.prefix}/{queue}"

    def dead_key(self, queue: str) -> str:
        return f"{self.options.prefix}/{queue}/dead"

    def refused(self, error: BaseException) -> TransportMisconfigured:
        return TransportMisconfigured(
            f"Redis at {self.where} refused a command ({error}). Check user, password, database number and rights; "
            "XAUTOCLAIM needs Redis 6.2 or newer."
        )

    async def _connect(self) -> None:
        await self._disconnect()
        given: dict[str, Any] = {
            "socket_connect_timeout": _REPLY_TIMEOUT,
            "socket_timeout": _REPLY_TIMEOUT,
            "health_check_interval": 15,
        }
        pool = BlockingConnectionPool.from_url(
            self._address.url, max_connections=_CONNECTIONS, timeout=_REPLY_TIMEOUT, **given
        )
        self.commands = Redis.from_pool(pool)
        self.blocking = Redis.from_url(self._address.url, **given)
        try:
            await self.commands.ping()
        except (*_REFUSALS, ResponseError) as error:
            if isinstance(error, _TRANSIENT) and not isinstance(error, _REFUSALS):
                raise
            raise self.refused(error) from error

    async def _disconnect(self) -> None:
        for client in (self.commands, self.blocking):
            if client is not None:
                await client.aclose()
        self.commands = self.blocking = None

    def _is_transient(self, error: BaseException) -> bool:
        return isinstance(error, _TRANSIENT) and not isinstance(error, _REFUSALS)

    async def _send(self, queue: str, messages: Sequence[bytes], tickets: Sequence[Ticket]) -> None:
        async with self.commands.pipeline(transaction=False) as steps:
            for message in messages:
                steps.xadd(self.key(queue), {_DATA: message})
            await steps.execute()

    def _consumer(self, queues: Sequence[str], prefetch: int) -> RedisConsumer:
        return RedisConsumer(self, queues, prefetch, self.events)

    async def _read_dead(self, queue: str, limit: int) -> Sequence[DeadTicket]:
        return [
            DeadTicket(queue=queue, data=fields[_DATA], reason=fields[_REASON].decode())
            for _, fields in await self.commands.xrange(self.dead_key(queue), count=limit)
        ]

    async def _delete(self, queue: str) -> None:
        await self.commands.delete(self.key(queue), self.dead_key(queue))


def _entries(answer: Any) -> Sequence[tuple[bytes, Any]]:
    """The entries of one stream, from a RESP2 or RESP3 reply."""
    if not answer:
        return ()
    found = next(iter(answer.values()))[0] if isinstance(answer, dict) else answer[0][1]
    entries: Sequence[tuple[bytes, Any]] = found
    return entries


def redis_from_url(url: str, *, listener: TransportListener | None = None) -> RedisTransport:
    address = address_of(url, example="redis://user:password@host:6379/0")
    path = address.url.partition("://")[2].partition("/")[2]
    if path and not path.isdigit():
        raise TransportMisconfigured(
            f"{address.shown} has the database {path!r}, which must be a number, like redis://host:6379/0"
        )
    return RedisTransport(address, listener=listener)
