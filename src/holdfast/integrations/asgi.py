"""For ASGI applications that have no lifespan of their own, such as Django's: Holdfast is open while the server serves.

    application = with_lifespan(get_asgi_application(), holdfast)

FastAPI and Starlette have one: `async with holdfast: yield` in it is all that they need.
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
    """The same application; at its start `before` runs and Holdfast opens, at its end Holdfast closes."""

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
