"""Hearing of what happens, in this process."""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from holdfast import telemetry

logger = logging.getLogger("holdfast")

Handler = Callable[[str, Mapping[str, Any]], Awaitable[None] | None]


def subscribe(handler: Handler, *events: str) -> Callable[[], None]:
    """Call the handler for these events (none named: all) until what is given back is called."""
    tasks: set[asyncio.Task[None]] = set()

    def hear(name: str, fields: Mapping[str, Any]) -> None:
        made = handler(name, fields)
        if made is not None and inspect.iscoroutine(made):
            task = asyncio.get_running_loop().create_task(made)
            tasks.add(task)
            task.add_done_callback(done)

    def done(task: asyncio.Task[None]) -> None:
        tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            logger.error("a handler of events failed; it stays subscribed", exc_info=error)

    return telemetry.subscribe(hear, *events)
