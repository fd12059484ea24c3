"""NATS JetStream transport: one stream for all queues, and a durable pull consumer per queue.

The stream `holdfast` keeps every message until it is settled (work-queue retention). The queue `mail` is the subject
`holdfast.q.mail` and the consumer `mail`. Dead letters are in the stream `holdfast-dead`, by subject. The ack wait is
`hold`; a consumer renews it for its unsettled messages every third of `hold`.

Pull requests use the JetStream API directly: the client's `fetch` backoff until a batch is full.
"""

from __future__ import annotations

import asyncio
import json
import logging
import re
from collections.abc import Coroutine, Sequence
from contextlib import suppress
from datetime import timedelta
from typing import Any

from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription
from nats.errors import AuthorizationError, Error as NatsError, InvalidUserCredentialsError, NoRespondersError
from nats.js import JetStreamContext
from nats.js.api import AckPolicy, ConsumerConfig, RetentionPolicy, StorageType, StreamConfig
from nats.js.errors import BadRequestError, NotFoundError, ServiceUnavailableError

from holdfast.dispatch.address import Address, address_of
from holdfast.dispatch.backoff import pauses
from holdfast.dispatch.broker_consumer import BrokerConsumer, BrokerDelivery
from holdfast.dispatch.broker_transport import BrokerTransport
from holdfast.dispatch.connection_events import ConnectionEvents
from holdfast.errors import TransportMisconfigured
from holdfast.model.ticket import Ticket
from holdfast.ports import DeadTicket, TransportListener

_LOG = logging.getLogger("holdfast.dispatch")

_DEAD_MAX = 10_000
_REASON = "Holdfast-Reason"
_PULL_TIMEOUT = timedelta(seconds=10)
"""Time for which the server holds one pull request."""
_REPLY_TIMEOUT = 2.0
"""Seconds that the server may take to reply."""
_UNSETTLED_MAX = 1_000_000
_PLAIN = re.compile(r"[^A-Za-z0-9_-]")


def token(queue: str) -> str:
    """Encode a queue name as one token of a subject. Characters such as dots become `=2E`."""
    return _PLAIN.sub(lambda found: f"={ord(found[0]):02X}", queue)


class _Pull:
    """The current pull request of one queue."""

    def __init__(self, queue: str) -> None:
        self.queue = queue
        self.expected = 0
        self.done = asyncio.Event()
        self.subscription: Subscription | None = None

    def request(self, number: int) -> None:
        self.expected = number
        self.done.clear()

    def received(self) -> None:
        self.expected -= 1
        if self.expected <= 0:
            self.done.set()


class NatsConsumer(BrokerConsumer[Msg]):
    def __init__(
        self, transport: NatsTransport, queues: Sequence[str], prefetch: int, events: ConnectionEvents
    ) -> None:
        super().__init__(queues, prefetch, events)
        self._transport = transport
        self._pulls = [_Pull(queue) for queue in self.queues]

    async def start(self) -> None:
        self._transport.pulling.add(self)
        for pull in self._pulls:
            try:
                await self._transport.make_consumer(pull.queue)
            except (NatsError, OSError, TimeoutError) as error:
                self.events.disconnected(error)
            self.start_fetching(self._pull(pull))
        self.start_renewal(self._renew())

    def request_again(self) -> None:
        """Repeat all pull requests: the server of a new connection does not know them."""
        for pull in self._pulls:
            pull.done.set()

    async def stop_fetching(self) -> None:
        """Messages in transit still arrive and are requeued."""
        self._transport.pulling.discard(self)
        for pull in self._pulls:
            if pull.subscription is not None:
                with suppress(NatsError, OSError, TimeoutError):
                    await asyncio.wait_for(pull.subscription.drain(), _REPLY_TIMEOUT)  # type: ignore[no-untyped-call]  # of the driver

    async def disconnect(self) -> None:
        """Send all acknowledgements before the connection closes."""
        with suppress(NatsError, OSError, TimeoutError):
            await self._transport.client.flush(round(_REPLY_TIMEOUT))

    async def finish(self, delivery: BrokerDelivery[Msg]) -> None:
        with suppress(NatsError, OSError):
            await delivery.receipt.ack()

    async def requeue(self, deliveries: Sequence[BrokerDelivery[Msg]]) -> None:
        with suppress(NatsError, OSError):
            for delivery in deliveries:
                await delivery.receipt.nak()

    async def dead_letter(self, queue: str, data: bytes, receipt: Msg, reason: str) -> None:
        """Publish a copy with the reason, then terminate the message. A crash in between leaves both, never neither."""
        with suppress(NatsError, OSError, TimeoutError):
            await self._transport.dead_letter(queue, data, reason)
            await receipt.term()

    async def _pull(self, pull: _Pull) -> None:
        backoff = pauses()
        while room := await self.wait_for_room(pull.queue):
            try:
                if pull.subscription is None:
                    pull.subscription = await self._subscribe(pull)
                pull.request(room)
                await self._transport.request_messages(pull.queue, room, pull.subscription.subject)
                await asyncio.wait_for(pull.done.wait(), _PULL_TIMEOUT.total_seconds() + _REPLY_TIMEOUT)
                backoff = pauses()
            except (NatsError, OSError, TimeoutError) as error:
                if not isinstance(error, TimeoutError):
                    self.events.disconnected(error)
                await self._remake(pull, next(backoff))

    async def _subscribe(self, pull: _Pull) -> Subscription:
        async def arrived(message: Msg) -> None:
            status = (message.headers or {}).get("Status")
            if status is None:
                pull.received()
                again = message.metadata.num_delivered > 1
                await self.receive(pull.queue, message.data, message, redelivered=again)
            elif status != "100":
                await self._answered(pull, status)

        client = self._transport.client
        return await client.subscribe(client.new_inbox(), cb=arrived)

    async def _answered(self, pull: _Pull, status: str) -> None:
        """408: the request expired. 409: the consumer was deleted, or a limit was reached. 503: no such consumer."""
        if status not in {"404", "408"}:
            await self._remake(pull, next(pauses()))
        pull.done.set()

    async def _remake(self, pull: _Pull, pause: timedelta) -> None:
        await asyncio.sleep(pause.total_seconds())
        with suppress(NatsError, OSError, TimeoutError):
            await self._transport.make_consumer(pull.queue)

    async def _renew(self) -> None:
        while True:
            await asyncio.sleep(self._transport.options.hold.total_seconds() / 3)
            with suppress(NatsError, OSError):
                for delivery in tuple(self.unsettled):
                    await delivery.receipt.in_progress()


class NatsTransport(BrokerTransport):
    name = "nats"

    def __init__(self, address: Address, *, replicas: int = 1, listener: TransportListener | None = None) -> None:
        super().__init__(address.shown, address.options, listener)
        self._address = address
        self._replicas = replicas
        self._stream = address.options.prefix
        self._dead_stream = f"{address.options.prefix}-dead"
        self.client = Client()
        self._js: JetStreamContext = self.client.jetstream(timeout=_REPLY_TIMEOUT)
        self.pulling: set[NatsConsumer] = set()
        self._disconnected = asyncio.Event()
        self._last_error: Exception | None = None
        """The reason for a failed connect. The client passes it to a callback and raises only "no servers"."""

    # -- used by consumers ---------------------------------------------------------------------------------------------

    async def make_consumer(self, queue: str) -> None:
        await self._make_streams()
        await self._js.add_consumer(
            self._stream,
            ConsumerConfig(
                durable_name=token(queue),
                filter_subject=self._subject(queue),
                ack_policy=AckPolicy.EXPLICIT,
                ack_wait=self.options.hold.total_seconds(),
                max_ack_pending=_UNSETTLED_MAX,
            ),
        )

    async def request_messages(self, queue: str, number: int, inbox: str) -> None:
        request = {"batch": number, "expires": round(_PULL_TIMEOUT / timedelta(microseconds=1)) * 1_000}
        subject = f"$JS.API.CONSUMER.MSG.NEXT.{self._stream}.{token(queue)}"
        await self.client.publish(subject, json.dumps(request).encode(), reply=inbox)

    async def dead_letter(self, queue: str, data: bytes, reason: str) -> None:
        text = " ".join(reason.split())
        await self._js.publish(self._subject(queue, "dead"), data, stream=self._dead_stream, headers={_REASON: text})

    # -- the carrier ---------------------------------------------------------------------------------------------------

    async def _connect(self) -> None:
        await self._disconnect()
        self._disconnected.clear()
        self._last_error = None
        self.client = Client()
        self._js = self.client.jetstream(timeout=_REPLY_TIMEOUT)
        try:
            await self.client.connect(
                servers=_servers(self._address.url),
                error_cb=self._on_error,
                disconnected_cb=self._on_disconnected,
                reconnected_cb=self._on_reconnected,
                connect_timeout=round(_REPLY_TIMEOUT),
                reconnect_time_wait=0,
                max_reconnect_attempts=1,
                ping_interval=10,
            )
            # Reconnect without limit from here on. The first connect fails fast, so the caller gets the error.
            self.client.options["max_reconnect_attempts"] = -1
            self.client.options["reconnect_time_wait"] = 0.25
            await self._make_streams()
        except (AuthorizationError, InvalidUserCredentialsError) as error:
            raise self._refused(error) from error
        except NatsError as error:
            if "authorization" in f"{error} {self._last_error}".lower():
                raise self._refused(self._last_error or error) from error
            if isinstance(error, (NoRespondersError, ServiceUnavailableError)):
                raise TransportMisconfigured(
                    f"NATS at {self.where} has no JetStream. Start it with `nats-server -js`, or enable it for the account."
                ) from error
            raise

    async def _disconnect(self) -> None:
        if self.client.is_connected or self.client.is_reconnecting or self.client.is_connecting:
            with suppress(NatsError, OSError, TimeoutError):
                await self.client.close()

    def _is_transient(self, error: BaseException) -> bool:
        return isinstance(error, (NatsError, OSError)) and not isinstance(error, BadRequestError)

    async def _send(self, queue: str, messages: Sequence[bytes], tickets: Sequence[Ticket]) -> None:
        subject = self._subject(queue)
        try:
            await self._unless_disconnected(
                *(self._js.publish(subject, data, stream=self._stream) for data in messages)
            )
        except NatsError as error:
            if isinstance(error, TimeoutError):
                raise
            await self._make_streams()  # The streams may have been deleted.
            raise

    def _consumer(self, queues: Sequence[str], prefetch: int) -> NatsConsumer:
        return NatsConsumer(self, queues, prefetch, self.events)

    async def _read_dead(self, queue: str, limit: int) -> Sequence[DeadTicket]:
        found: list[DeadTicket] = []
        after = 0
        while len(found) < limit:
            try:
                message = await self._js.get_msg(
                    self._dead_stream, seq=after + 1, subject=self._subject(queue, "dead"), next=True
                )
            except NotFoundError:
                break
            after = message.seq or after + 1
            reason = (message.headers or {}).get(_REASON, "unknown")
            found.append(DeadTicket(queue=queue, data=message.data or b"", reason=reason))
        return found

    async def _delete(self, queue: str) -> None:
        with suppress(NotFoundError):
            await self._js.delete_consumer(self._stream, token(queue))
        with suppress(NotFoundError):
            await self._js.purge_stream(self._stream, subject=self._subject(queue))
            await self._js.purge_stream(self._dead_stream, subject=self._subject(queue, "dead"))

    async def _unless_disconnected(self, *work: Coroutine[Any, Any, object]) -> None:
        """Raise on a disconnect: confirms of the old connection never arrive."""
        working, lost = asyncio.gather(*work), asyncio.ensure_future(self._disconnected.wait())
        try:
            await asyncio.wait((working, lost), return_when=asyncio.FIRST_COMPLETED)
            if not working.done():
                raise ConnectionError("the connection was lost")
            await working
        finally:
            lost.cancel()
            working.cancel()
            await asyncio.gather(working, lost, return_exceptions=True)

    def _subject(self, queue: str, kind: str = "q") -> str:
        return f"{self.options.prefix}.{kind}.{token(queue)}"

    async def _make_streams(self) -> None:
        """Create both streams. Existing streams with the same configuration are left as they are."""
        prefix = self.options.prefix
        wanted = (
            StreamConfig(name=self._stream, subjects=[f"{prefix}.q.*"], retention=RetentionPolicy.WORK_QUEUE),
            StreamConfig(name=self._dead_stream, subjects=[f"{prefix}.dead.*"], max_msgs_per_subject=_DEAD_MAX),
        )
        for config in wanted:
            config.storage, config.num_replicas = StorageType.FILE, self._replicas
            try:
                await self._js.add_stream(config)
            except BadRequestError as error:
                raise TransportMisconfigured(
                    f"The stream '{config.name}' exists with another configuration ({error.description}). Delete it when it "
                    "is empty, or give Holdfast another prefix: nats://…?prefix=mine"
                ) from error

    def _refused(self, error: BaseException) -> TransportMisconfigured:
        return TransportMisconfigured(
            f"NATS at {self.where} refused the connection ({error}). Check user, password or token, and the account's rights."
        )

    async def _on_error(self, error: Exception) -> None:
        """Log errors of a live connection. A lost connection is reported by `_on_disconnected`."""
        self._last_error = error
        if self.client.is_connected:
            _LOG.warning("nats: %s: %s", type(error).__name__, error)

    async def _on_disconnected(self) -> None:
        if not self.client.is_closed:
            self._disconnected.set()
            self.events.disconnected("the connection was closed")

    async def _on_reconnected(self) -> None:
        self._disconnected.clear()
        self.events.reconnected()
        for consumer in self.pulling:
            consumer.request_again()


def _servers(url: str) -> list[str]:
    """Split the address of a cluster: `nats://user:secret@a:4222,b:4222`."""
    scheme, _, rest = url.partition("://")
    credentials, at, places = rest.rstrip("/").rpartition("@")
    return [f"{scheme}://{credentials}{at}{place}" for place in places.split(",")]


def nats_from_url(url: str, *, listener: TransportListener | None = None) -> NatsTransport:
    address = address_of(url, example="nats://user:password@host:4222", own=("replicas",))
    replicas: Any = address.parts.get("replicas", "1")
    if replicas not in {"1", "2", "3", "4", "5"}:
        raise TransportMisconfigured(f"{address.shown}: replicas={replicas!r} must be 1 to 5")
    return NatsTransport(address, replicas=int(replicas), listener=listener)
