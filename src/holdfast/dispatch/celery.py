"""Celery as step dispatcher, for teams that already run Celery workers.

A step is a Celery task with a ticket as its only argument. The store decides which attempt counts and whether a step is
retried, so Celery's results and retries are not used. A Celery worker runs the engine in a thread with its own event loop.
A task lasts as long as its step, so Celery's concurrency is the concurrency of steps.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from datetime import timedelta
from typing import Any

from celery import Celery  # type: ignore[import-untyped]  # it brings no types
from kombu.exceptions import OperationalError

from holdfast.dispatch.steps import ticket_of
from holdfast.errors import TransportUnavailable
from holdfast.model.ticket import DefinitionRef, Ticket, decode_ticket, encode_ticket
from holdfast.model.work import EffectRow
from holdfast.ports import StepContext

TASK = "holdfast.step"

RunStep = Callable[[Ticket], Awaitable[object]]
"""Runs the step of a ticket to its end: `runtime.run_step`."""


class CelerySteps:
    """Implements `holdfast.ports.StepDispatcher`. The id that it returns is Celery's task id."""

    def __init__(self, app: Celery) -> None:
        self._app = app

    async def enqueue_step(self, context: StepContext, definition: DefinitionRef, step: EffectRow) -> str | None:
        return await self._send(ticket_of(context, definition, step), None)

    async def schedule_step(
        self, context: StepContext, definition: DefinitionRef, step: EffectRow, delay: timedelta
    ) -> str | None:
        return await self._send(ticket_of(context, definition, step), delay)

    async def _send(self, ticket: Ticket, delay: timedelta | None) -> str:
        def send() -> str:
            sent = self._app.send_task(
                TASK,
                args=[encode_ticket(ticket).decode()],
                queue=ticket.queue,
                priority=ticket.priority,
                countdown=None if delay is None else delay.total_seconds(),
                ignore_result=True,
            )
            return str(sent.id)

        try:
            return await asyncio.to_thread(send)
        except (OperationalError, OSError) as error:
            raise TransportUnavailable(
                f"Celery's broker does not answer ({error}). Check broker_url and that the broker runs; the store still has "
                "the work."
            ) from error


class CeleryHost:
    """The engine inside a Celery worker. The first task of each process opens it, in its own thread."""

    def __init__(self, open_steps: Callable[[], AbstractAsyncContextManager[RunStep]]) -> None:
        self._open_steps = open_steps
        self._guard = threading.Lock()
        self._process = 0
        self._loop: asyncio.AbstractEventLoop
        self._run: RunStep

    def run(self, ticket: str) -> None:
        """Run a step to its end. Called by a Celery task, in any thread."""
        self._ensure()
        asyncio.run_coroutine_threadsafe(self._one(decode_ticket(ticket.encode())), self._loop).result()

    async def _one(self, ticket: Ticket) -> None:
        await self._run(ticket)

    def _ensure(self) -> None:
        with self._guard:
            if self._process == os.getpid():  # Celery forks: a child has the parent's memory, but not its threads.
                return
            ready = threading.Event()
            failed: list[BaseException] = []
            threading.Thread(target=self._serve, args=(ready, failed), name="holdfast", daemon=True).start()
            ready.wait()
            if failed:
                raise failed[0]
            self._process = os.getpid()

    def _serve(self, ready: threading.Event, failed: list[BaseException]) -> None:
        async def serve() -> None:
            self._loop = asyncio.get_running_loop()
            async with self._open_steps() as run:
                self._run = run
                ready.set()
                await asyncio.Event().wait()

        try:
            asyncio.run(serve())
        except BaseException as error:  # noqa: BLE001 - raised in the thread that waits for the engine
            failed.append(error)
            ready.set()


def run_steps(app: Celery, open_steps: Callable[[], AbstractAsyncContextManager[RunStep]]) -> None:
    """Register the step task on a Celery app. Call it in the module that makes the app, so that every worker has the task."""
    host = CeleryHost(open_steps)

    def step(ticket: str) -> None:
        host.run(ticket)

    app.task(name=TASK, acks_late=True, reject_on_worker_lost=True)(step)


__all__: list[Any] = ["CeleryHost", "CelerySteps", "RunStep", "run_steps"]
