"""Subscriptions to the events of this process."""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from holdfast import telemetry

logger = logging.getLogger("holdfast")

Handler = Callable[[str, Mapping[str, Any]], Awaitable[None] | None]


def subscribe(handler: Handler, *events: str, tenant: str) -> Callable[[], None]:
    """Call the handler for these events of the tenant, or for all if none is named. The returned function ends the
    subscription."""
    tasks: set[asyncio.Task[None]] = set()

    def on_event(name: str, fields: Mapping[str, Any]) -> None:
        result = handler(name, fields)
        if result is not None and inspect.iscoroutine(result):
            task = asyncio.get_running_loop().create_task(result)
            tasks.add(task)
            task.add_done_callback(done)

    def done(task: asyncio.Task[None]) -> None:
        tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            logger.error("an event handler failed; it stays subscribed", exc_info=error)

    return telemetry.subscribe(on_event, *events, tenant=tenant)
