"""One WebSocket: who it is, what they follow, and the messages to them.

    → {"op": "auth", "token": …}                  where the address or a header did not say who asks
    → {"op": "subscribe", "id": "s1", "topic": "instance", "key": …, "after": version?}
    ← {"id": "s1", "kind": "state", "version": 3, "data": …}
    ← {"id": "s1", "kind": "change", "version": 4, "data": …}
    ← {"id": "s1", "kind": "error", "code": …, "message": …}        this subscription has ended
    → {"op": "unsubscribe", "id": "s1"}
    ↔ {"op": "ping"} is answered with {"op": "pong"}

Sending waits for the other side. Meanwhile nothing piles up: a subscription makes its next message only when the one before
has left, of what is true by then.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import msgspec
from fastapi import FastAPI
from msgspec.structs import replace
from starlette.websockets import WebSocket, WebSocketDisconnect

from holdfast.errors import HoldfastError, NotSignedIn, PermissionDenied
from holdfast.model.principal import Principal
from holdfast.server.live import topics
from holdfast.server.live.renderings import Rendering, Renderings
from holdfast.server.problems import answer_for
from holdfast.server.security import Security, facts_of

if TYPE_CHECKING:
    from holdfast.ports import RequestFacts
    from holdfast.server.backend import Backend

PATH = "/api/live"
SUBSCRIPTIONS_MAX = 200
MESSAGE_MAX = 65_536
EVERY = timedelta(seconds=30)
"""How often the other side is pinged, and its session is looked at again."""
NOT_SIGNED_IN, MISBEHAVED = 4401, 4400


class Hello(msgspec.Struct, frozen=True):
    """What a client says."""

    op: str
    id: str = ""
    topic: str = ""
    key: str | None = None
    after: int | None = None
    token: str = ""


_read = msgspec.json.Decoder(Hello).decode


class Connection:
    def __init__(self, socket: WebSocket, backend: Backend, renderings: Renderings, security: Security) -> None:
        self._socket = socket
        self._backend = backend
        self._renderings = renderings
        self._security = security
        self._facts: RequestFacts = facts_of(socket.scope)
        self._principal: Principal | None = None
        self._following: dict[str, asyncio.Task[None]] = {}
        self._sending = asyncio.Lock()

    async def run(self) -> None:
        """Until either side ends it."""
        token = self._facts.query.get("token")
        await self._socket.accept()
        watchman = asyncio.create_task(self._look_after())
        try:
            await self._recognise(token)
            while True:
                text = await self._socket.receive_text()
                await self._hear(text)
        except WebSocketDisconnect:
            pass
        except NotSignedIn as error:
            await self._close(NOT_SIGNED_IN, str(error))
        except (msgspec.DecodeError, msgspec.ValidationError, KeyError) as error:
            await self._close(MISBEHAVED, f"No message of this protocol: {error}")
        finally:
            tasks = [watchman, *self._following.values()]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    # -- who -----------------------------------------------------------------------------------------------------------

    async def _recognise(self, token: str | None = None) -> None:
        """Raises `NotSignedIn` where credentials are wrong; none at all may still come."""
        if token:
            headers = {**self._facts.headers, "authorization": f"Bearer {token}"}
            self._facts = replace(self._facts, headers=headers)
        self._principal = await self._security.principal(self._facts)

    async def _look_after(self) -> None:
        """Ping, and end the connection of somebody whose session has ended."""
        while True:
            await asyncio.sleep(EVERY.total_seconds())
            try:
                if self._principal is not None:
                    await self._recognise()
                await self._send({"op": "ping"})
            except NotSignedIn as error:
                await self._close(NOT_SIGNED_IN, str(error))
                return
            except (WebSocketDisconnect, RuntimeError):
                return

    # -- what they say -------------------------------------------------------------------------------------------------

    async def _hear(self, text: str) -> None:
        if len(text) > MESSAGE_MAX:
            raise msgspec.ValidationError("too long")
        said = _read(text)
        if said.op == "auth":
            await self._recognise(said.token)
        elif said.op == "subscribe":
            await self._subscribe(said)
        elif said.op == "unsubscribe":
            task = self._following.pop(said.id, None)
            if task is not None:
                task.cancel()
        elif said.op == "ping":
            await self._send({"op": "pong"})
        elif said.op != "pong":
            raise msgspec.ValidationError(f"there is no op '{said.op}'")

    async def _subscribe(self, said: Hello) -> None:
        before = self._following.pop(said.id, None)
        if before is not None:
            before.cancel()
        try:
            source = self._source(said)
        except HoldfastError as error:
            await self._refuse(said.id, error)
            return
        if source is None or len(self._following) >= SUBSCRIPTIONS_MAX:
            why = f"There is no topic '{said.topic}' of that key." if source is None else "Too many subscriptions."
            await self._send({"id": said.id, "kind": "error", "code": "subscription.refused", "message": why})
            return
        self._following[said.id] = asyncio.create_task(self._follow(said.id, source))

    def _source(self, said: Hello) -> AsyncIterator[Rendering] | None:
        permission = topics.PERMISSIONS.get(said.topic)
        if permission is None:
            return None
        if self._principal is None:
            raise NotSignedIn("Sign in first: send {op: auth, token}.")
        if not self._principal.may(permission):
            raise PermissionDenied(permission, self._principal.name)
        if said.topic == "instances":
            return topics.follow_instances(self._backend, self._renderings, said.key)
        if not said.key:
            return None
        if said.topic == "definition":
            return topics.follow_definition(self._backend, said.key, said.after)
        return topics.follow_instance(self._backend, self._renderings, said.key, said.after)

    async def _follow(self, name: str, source: AsyncIterator[Rendering]) -> None:
        quoted = msgspec.json.encode(name).decode()
        try:
            async with contextlib.aclosing(source) as messages:  # type: ignore[type-var]  # all of ours are generators
                async for item in messages:
                    text = item.text(quoted)
                    async with self._sending:
                        await self._socket.send_text(text)
        except HoldfastError as error:
            await self._refuse(name, error)
        except (WebSocketDisconnect, RuntimeError):
            return  # The other side is gone; the reading end notices.

    async def _refuse(self, name: str, error: HoldfastError) -> None:
        code = answer_for(error).code
        await self._send({"id": name, "kind": "error", "code": code, "message": str(error)})

    async def _send(self, message: dict[str, Any]) -> None:
        async with self._sending:
            await self._socket.send_text(msgspec.json.encode(message).decode())

    async def _close(self, code: int, reason: str) -> None:
        with contextlib.suppress(RuntimeError):
            await self._socket.close(code, reason[:120])


def is_from_here(socket: WebSocket, origins: str) -> bool:
    """A browser says which page opened the socket; a page from elsewhere must not speak in its user's name."""
    origin = socket.headers.get("origin")
    if origin is None:
        return True
    allowed = {item.strip() for item in origins.split(",") if item.strip()}
    return origin in allowed or urlsplit(origin).netloc == socket.headers.get("host", "")


def mount(api: FastAPI, backend: Backend) -> None:
    """Put the socket into the application, at `/api/live`."""

    renderings = Renderings(backend)

    async def live(socket: WebSocket) -> None:
        if not is_from_here(socket, backend.engine.settings.cors_origins):
            await socket.close(1008, "This page may not open a connection here.")
            return
        await Connection(socket, backend, renderings, socket.app.state.security).run()

    api.add_api_websocket_route(PATH, live)
