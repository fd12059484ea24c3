"""Lifespan for ASGI applications without one, such as Django's: Holdfast is open while the server runs.

    application = with_lifespan(get_asgi_application(), holdfast)

FastAPI and Starlette have a lifespan; use `async with holdfast: yield` in it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import AsyncExitStack
from typing import Any

from holdfast.engine import Holdfast

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Any, Any, Any], Awaitable[None]]


def with_lifespan(
    application: Application, holdfast: Holdfast, *, before: Callable[[], Awaitable[object]] | None = None
) -> Application:
    """Wrap the application: at start-up run `before` and open Holdfast, at shutdown close it."""

    async def served(scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await _live(holdfast, before, receive, send)
        else:
            await application(scope, receive, send)

    return served


async def _live(
    holdfast: Holdfast, before: Callable[[], Awaitable[object]] | None, receive: Receive, send: Send
) -> None:
    async with AsyncExitStack() as stack:
        while True:
            word = (await receive())["type"].rpartition(".")[2]
            try:
                if word == "startup":
                    if before is not None:
                        await before()
                    await stack.enter_async_context(holdfast)
                else:
                    await stack.aclose()
            except Exception as error:
                await send({"type": f"lifespan.{word}.failed", "message": str(error)})
                raise
            await send({"type": f"lifespan.{word}.complete"})
            if word == "shutdown":
                return
