"""One WebSocket connection: authentication, subscriptions, and the messages sent to the client.

    → {"op": "auth", "token": …}                  if neither URL nor header carried credentials
    → {"op": "subscribe", "id": "s1", "topic": "instance", "key": …, "after": version?}
    ← {"id": "s1", "kind": "state", "version": 3, "data": …}
    ← {"id": "s1", "kind": "change", "version": 4, "data": …}
    ← {"id": "s1", "kind": "error", "code": …, "message": …}        this subscription has ended
    → {"op": "unsubscribe", "id": "s1"}
    ↔ {"op": "ping"} is answered with {"op": "pong"}

Sending applies back-pressure, and no messages queue up: a subscription makes its next message only after the previous one
was sent, from the state at that time.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import AbstractContextManager
from datetime import timedelta
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple
from urllib.parse import urlsplit

import msgspec
from fastapi import FastAPI
from msgspec.structs import replace
from starlette.websockets import WebSocket, WebSocketDisconnect

from holdfast.errors import HoldfastError, NotSignedIn, PermissionDenied, StoreUnavailable
from holdfast.model.principal import Principal
from holdfast.model.storable_text import storable
from holdfast.server.live import topics
from holdfast.server.live.messages import Rendering, Renderings
from holdfast.server.problems import answer_for, detail_of
from holdfast.server.security import Security, facts_of

if TYPE_CHECKING:
    from holdfast.ports import RequestFacts
    from holdfast.server.backend import Backend

PATH = "/api/live"
SUBSCRIPTIONS_MAX = 200
MESSAGE_MAX = 65_536
PING_INTERVAL = timedelta(seconds=30)
"""Interval of pings and of the check that the session is still valid."""
STORE_RETRY_DELAY = timedelta(seconds=1)
"""Delay before a retry while the store is unavailable."""
NOT_SIGNED_IN, MISBEHAVED, TRY_AGAIN = 4401, 4400, 1013
REASON_BYTES_MAX = 120
"""Limit of a WebSocket close reason: the protocol allows 123 bytes."""


class ClientMessage(msgspec.Struct, frozen=True):
    """A message from the client."""

    op: str
    id: str = ""
    topic: str = ""
    key: str | None = None
    after: Annotated[int, msgspec.Meta(ge=0, lt=2**62)] | None = None
    token: str = ""


_read = msgspec.json.Decoder(ClientMessage).decode


class Subscription(NamedTuple):
    """A subscription."""

    permission: str
    task: asyncio.Task[None]


class Connection:
    def __init__(self, socket: WebSocket, backend: Backend, renderings: Renderings, security: Security) -> None:
        self._socket = socket
        self._backend = backend
        self._renderings = renderings
        self._security = security
        self._facts: RequestFacts = facts_of(socket.scope)
        self._principal: Principal | None = None
        self._subscriptions: dict[str, Subscription] = {}
        self._sending = asyncio.Lock()
        self._check = asyncio.Event()
        """Set when accounts have changed: the principal is checked again at once."""

    async def run(self) -> None:
        """Runs until either side closes the connection."""
        token = self._facts.query.get("token")
        await self._socket.accept()
        keep_alive = asyncio.create_task(self._keep_alive())
        try:
            with self._watching():
                async with asyncio.timeout(self._backend.engine.settings.live_sign_in_time.total_seconds()) as deadline:
                    await self._authenticate(token)
                    while True:
                        if self._principal is not None:
                            deadline.reschedule(None)
                        text = await self._socket.receive_text()
                        await self._handle(text)
        except TimeoutError:
            why = "Sign in within the time of the setting live_sign_in_time." if self._principal is None else "Timeout."
            await self._close(NOT_SIGNED_IN if self._principal is None else TRY_AGAIN, why)
        except WebSocketDisconnect:
            pass
        except NotSignedIn as error:
            await self._close(NOT_SIGNED_IN, str(error))
        except (msgspec.DecodeError, msgspec.ValidationError, KeyError) as error:
            await self._close(MISBEHAVED, f"Not a message of this protocol: {error}")
        except HoldfastError as error:  # The store, which holds the accounts, is unavailable.
            await self._close(TRY_AGAIN, detail_of(error))
        finally:
            tasks = [keep_alive, *(one.task for one in self._subscriptions.values())]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    # -- authentication ------------------------------------------------------------------------------------------------

    async def _authenticate(self, token: str | None = None) -> Principal | None:
        """Raises `NotSignedIn` for wrong credentials; None without credentials, which may still follow."""
        if token:
            headers = {**self._facts.headers, "authorization": f"Bearer {token}"}
            self._facts = replace(self._facts, headers=headers)
        self._principal = await self._security.principal(self._facts)
        return self._principal

    def _watching(self) -> AbstractContextManager[None]:
        accounts = self._security.accounts
        return contextlib.nullcontext() if accounts is None else accounts.watched(self._check.set)

    async def _keep_alive(self) -> None:
        """Pings, closes the connection when its session ends, and ends subscriptions whose permission was revoked."""
        while True:
            try:
                async with asyncio.timeout(PING_INTERVAL.total_seconds()):
                    await self._check.wait()
            except TimeoutError:
                pass
            self._check.clear()
            try:
                await self._send({"op": "ping"})
                if self._principal is not None:
                    await self._end_denied(await self._authenticate())
            except NotSignedIn as error:
                await self._close(NOT_SIGNED_IN, str(error))
                return
            except HoldfastError:  # The store is unavailable: check again next time.
                continue
            except (WebSocketDisconnect, RuntimeError):
                return

    async def _end_denied(self, principal: Principal | None) -> None:
        if principal is None:
            raise NotSignedIn("The session has ended. Sign in again.")
        for name, (permission, task) in tuple(self._subscriptions.items()):
            if not principal.may(permission):
                del self._subscriptions[name]
                task.cancel()
                await self._refuse(name, PermissionDenied(permission, principal.name))

    # -- client messages -----------------------------------------------------------------------------------------------

    async def _handle(self, text: str) -> None:
        if len(text) > MESSAGE_MAX:
            raise msgspec.ValidationError("too long")
        message = _read(text)
        if message.op == "auth":
            await self._authenticate(message.token)
        elif message.op == "subscribe":
            await self._subscribe(message)
        elif message.op == "unsubscribe":
            self._end(message.id)
        elif message.op == "ping":
            await self._send({"op": "pong"})
        elif message.op != "pong":
            raise msgspec.ValidationError(f"unknown op '{message.op}'")

    async def _subscribe(self, message: ClientMessage) -> None:
        self._end(message.id)
        try:
            is_there = self._source(message) is not None
        except HoldfastError as error:
            await self._refuse(message.id, error)
            return
        if not is_there or len(self._subscriptions) >= SUBSCRIPTIONS_MAX:
            why = "Too many subscriptions." if is_there else f"There is no topic '{message.topic}' with this key."
            await self._send({"id": message.id, "kind": "error", "code": "subscription.refused", "message": why})
            return
        task = asyncio.create_task(self._follow(message))
        self._subscriptions[message.id] = Subscription(topics.PERMISSIONS[message.topic], task)

    def _end(self, name: str) -> None:
        before = self._subscriptions.pop(name, None)
        if before is not None:
            before.task.cancel()

    def _source(self, message: ClientMessage) -> AsyncIterator[Rendering] | None:
        permission = topics.PERMISSIONS.get(message.topic)
        if permission is None:
            return None
        if self._principal is None:
            raise NotSignedIn("Sign in first: send {op: auth, token}.")
        if not self._principal.may(permission):
            raise PermissionDenied(permission, self._principal.name)
        storable(message.key, "key")  # All watchers share one query, which an unstorable key would break.
        if message.topic == "instances":
            return topics.follow_instances(self._backend, self._renderings, message.key)
        if not message.key:
            return None
        if message.topic == "definition":
            return topics.follow_definition(self._backend, message.key, message.after)
        return topics.follow_instance(self._backend, self._renderings, message.key, message.after)

    async def _follow(self, message: ClientMessage) -> None:
        """Runs to the end of the subscription. After a store outage it continues from the last version sent."""
        quoted = msgspec.json.encode(message.id).decode()
        while True:
            try:
                source = self._source(message)
                assert source is not None  # checked when the subscription was made
                async with contextlib.aclosing(source) as messages:  # type: ignore[type-var]  # all sources are generators
                    async for item in messages:
                        text = item.text(quoted)
                        async with self._sending:
                            await self._socket.send_text(text)
                        message = replace(message, after=item.version)
                return
            except StoreUnavailable:
                await asyncio.sleep(STORE_RETRY_DELAY.total_seconds())
            except HoldfastError as error:
                await self._refuse(message.id, error)
                return
            except (WebSocketDisconnect, RuntimeError):
                return  # The client disconnected; the reading task handles it.

    async def _refuse(self, name: str, error: HoldfastError) -> None:
        code = answer_for(error).code
        await self._send({"id": name, "kind": "error", "code": code, "message": detail_of(error)})

    async def _send(self, message: dict[str, Any]) -> None:
        async with self._sending:
            await self._socket.send_text(msgspec.json.encode(message).decode())

    async def _close(self, code: int, reason: str) -> None:
        with contextlib.suppress(RuntimeError):
            await self._socket.close(code, reason.encode()[:REASON_BYTES_MAX].decode(errors="ignore"))


def is_same_origin(socket: WebSocket, origins: str) -> bool:
    """The Origin header names the page that opened the socket; a foreign page must not act with its user's session."""
    origin = socket.headers.get("origin")
    if origin is None:
        return True
    allowed = {item.strip() for item in origins.split(",") if item.strip()}
    try:
        return origin in allowed or urlsplit(origin).netloc == socket.headers.get("host", "")
    except ValueError:  # not a URL
        return False


def mount(api: FastAPI, backend: Backend) -> None:
    """Mount the socket at `/api/live`."""

    renderings = Renderings(backend)

    async def live(socket: WebSocket) -> None:
        if not is_same_origin(socket, backend.engine.settings.cors_origins):
            await socket.close(1008, "Connections from this origin are not allowed.")
            return
        await Connection(socket, backend, renderings, socket.app.state.security).run()

    api.add_api_websocket_route(PATH, live)
