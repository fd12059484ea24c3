"""Executes effects: one task each, in a fresh context; results are reported in the order in which effects end.

The task that drives segments never awaits user code (rule H13). Holdfast records the cause of a cancellation before it cancels:
a CancelledError without a recorded cause is a fault of the activity (rule M1).
"""

from __future__ import annotations

import asyncio
import contextvars
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping
from datetime import timedelta
from functools import partial
from inspect import isawaitable
from typing import Any, Generic, NamedTuple, TypeVar

from holdfast import telemetry
from holdfast.errors import ActivityTimeout, ExecutionError
from holdfast.execution.context import Facts, RecordingContext
from holdfast.execution.effect_failure import failure
from holdfast.execution.invoke import EffectCall
from holdfast.execution.live import LiveInstance
from holdfast.execution.pipeline import ordered
from holdfast.execution.plan import Node, Plan
from holdfast.execution.record import EffectFailure, EffectRequest, EffectResult, Record, Returned
from holdfast.model import values
from holdfast.model.instance import moment
from holdfast.ports import EffectMiddleware, MiddlewarePlacement, Services
from holdfast.runtime.effects.pools import EffectPools

logger = logging.getLogger("holdfast")

Finished = tuple[int, int, EffectResult]
"""Execution id, attempt, result."""
OnLoneResult = Callable[[Finished], bool]
"""Handles the end of the only open effect in the task of the effect; False if the waiting driver has to be woken."""


class Origin(NamedTuple):
    """The part of an instance that its effects need. An effect that runs for an hour must not keep the whole state in memory:
    each burst of a wide instance has a state of its own."""

    plan: Plan
    tenant: str
    instance_id: str
    correlation_id: str | None
    trace: str | None
    now: Callable[[], int]
    services: Services
    properties: Mapping[str, Any]


def origin_of(tenant: str, live: LiveInstance) -> Origin:
    return Origin(live.plan, tenant, live.id, live.correlation_id, live.trace, live.now, live.services, live.properties)


class Attempt:
    """One attempt of an effect; later attempts of the same execution do not share its cancellation."""

    __slots__ = ("canceled", "cause", "left", "origin", "request", "state", "task")

    def __init__(self, origin: Origin, live: LiveInstance, request: EffectRequest) -> None:
        self.origin = origin
        self.request = request
        data = live.waiters[request.execution_id].data
        self.state: dict[str, Any] | None = data.get("state") if data.__class__ is dict else None
        """State that the activity kept; the activity gets a copy."""
        self.task: asyncio.Task[None] | None = None
        """None until the attempt begins."""
        self.cause: str | None = None
        """The cause of a cancellation by Holdfast."""
        self.canceled = False
        """Shown by the activity's context; code in a thread has to check it."""
        self.left = False
        """The attempt still runs after its timeout or the grace period of its cancellation; its result is ignored."""

    def cancel(self, cause: str) -> asyncio.Task[None] | None:
        """Cancel the attempt; returns its task, which may need time to clean up, or None if it never began."""
        self.cause = cause
        self.canceled = True
        if self.task is not None:
            self.task.cancel()
        return self.task


A = TypeVar("A", bound=Attempt)


def around_effects(middleware: tuple[MiddlewarePlacement, ...]) -> tuple[MiddlewarePlacement, ...]:
    """The middleware for effects, outermost first."""
    return tuple(
        item
        for item in ordered(middleware)
        if isinstance(item, MiddlewarePlacement) and isinstance(item.middleware, EffectMiddleware)
    )


async def ended(tasks: Iterable[asyncio.Task[None] | None], grace: timedelta) -> None:
    """Wait for canceled tasks, at most for the grace period."""
    ending = [task for task in tasks if task is not None]
    if ending:
        await asyncio.wait(ending, timeout=grace.total_seconds())


class InstanceEffects:
    """The running effects of one instance of the inline runner."""

    __slots__ = ("_finished", "_grace", "_live", "_news", "_on_lone_result", "_open", "_tasks", "_tenant")

    def __init__(
        self,
        tenant: str,
        live: LiveInstance,
        pools: EffectPools,
        middleware: tuple[MiddlewarePlacement, ...],
        grace: timedelta,
    ) -> None:
        self._tenant = tenant
        self._live = live
        self._tasks: EffectTasks[Attempt] = EffectTasks(pools, middleware, grace, self._ended)
        self._grace = grace
        self._open: dict[int, Attempt] = {}
        self._finished: list[Finished] = []
        self._news: asyncio.Future[None] | None = None
        self._on_lone_result: OnLoneResult | None = None

    def start(self, request: EffectRequest) -> None:
        """Begin an attempt. A held effect fails instead: without a store, no operator can recover it."""
        if request.held:
            held = EffectFailure(type="EffectLost", message="Its outcome is unknown (on_lost: hold).", cause="lost")
            self._finished.append((request.execution_id, request.attempt, held))
            self.wake()
            return
        attempt = self._open[request.execution_id] = Attempt(origin_of(self._tenant, self._live), self._live, request)
        self._tasks.begin(attempt)

    async def next(self, on_lone_result: OnLoneResult | None = None) -> list[Finished]:
        """Wait until an effect has ended or `wake` was called; returns all effects that have ended by then.

        `on_lone_result` handles the end of a lone effect and may extend the wait: that saves one turn of the event loop for
        each of several effects in a row.
        """
        if not self._finished:
            self._news = asyncio.get_running_loop().create_future()
            self._on_lone_result = on_lone_result
            try:
                await self._news
            finally:
                self._news = self._on_lone_result = None
        found, self._finished = self._finished, []
        return found

    def wake(self) -> None:
        if self._news is not None and not self._news.done():
            self._news.set_result(None)

    async def cancel(self, execution_ids: list[int], cause: str) -> None:
        """Cancel these effects and wait for them, at most for the grace period. Effects that still run then count as ended."""
        attempts = [self._open[key] for key in execution_ids if key in self._open]
        await ended([attempt.cancel(cause) for attempt in attempts], self._grace)
        for attempt in attempts:
            if self._open.get(attempt.request.execution_id) is attempt:
                attempt.left = True
                self._ended(attempt, canceled_failure(cause))

    async def cancel_all(self, cause: str) -> None:
        await self.cancel(list(self._open), cause)

    def _ended(self, attempt: Attempt, result: EffectResult) -> None:
        request = attempt.request
        key = request.execution_id
        if self._open.get(key) is attempt:
            del self._open[key]
        finished = (key, request.attempt, result)
        news, on_lone_result = self._news, self._on_lone_result
        if on_lone_result is None or news is None or self._open or news.done():
            self._finished.append(finished)
        else:
            try:
                if on_lone_result(finished):
                    return
            except BaseException as error:  # noqa: BLE001 - the error belongs to the waiting driver, not to the task of the effect
                news.set_exception(error)
        self.wake()


class EffectTasks(Generic[A]):
    """Runs attempts, each as a task, and reports how each ended."""

    __slots__ = ("_grace", "_middleware", "_on_end", "_pools")

    def __init__(
        self,
        pools: EffectPools,
        middleware: tuple[MiddlewarePlacement, ...],
        grace: timedelta,
        on_end: Callable[[A, EffectResult], None],
    ) -> None:
        self._pools = pools
        self._middleware = middleware
        self._grace = grace
        self._on_end = on_end

    def begin(self, attempt: A) -> None:
        request = attempt.request
        node = attempt.origin.plan.by_key[request.activity_id]
        bare = node.effect.bare and node.timeout is None and not self._middleware
        work = self._run(node, attempt, None if bare else _context(attempt))
        attempt.task = asyncio.get_running_loop().create_task(work, context=contextvars.Context())
        if telemetry.listeners:
            telemetry.emit("effect.started", **_fields(node, attempt))

    # -- one attempt ---------------------------------------------------------------------------------------------------

    async def _run(self, node: Node, attempt: A, context: RecordingContext | None) -> None:
        result: EffectResult
        try:
            if context is None:
                function, inputs = node.effect.function, _by_value(attempt.request.inputs)
                if node.effect.mode == "async":
                    value = await function(**inputs)
                else:
                    value = await self._pools.in_thread(partial(function, **inputs))
                result = Returned(values.copy(value))
            else:
                result = await self._outcome(node, attempt, context)
        except asyncio.CancelledError:
            result = _canceled(node, attempt.cause)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - user code: every error is a fault of the activity
            result = failure(error)
        if not attempt.left:
            self._report(node, attempt, result)

    def _report(self, node: Node, attempt: A, result: EffectResult) -> None:
        if telemetry.listeners:
            _emit(node, attempt, result)
        self._on_end(attempt, result)

    async def _outcome(self, node: Node, attempt: A, context: RecordingContext) -> Record:
        request = attempt.request
        if node.timeout is None and not self._middleware:
            await self._invoke(node.effect, request, context)
        else:
            await self._surrounded(node, attempt, context)
        context.record.state = context.state
        return context.record

    async def _surrounded(self, node: Node, attempt: A, context: RecordingContext) -> None:
        """Invoke with middleware and timeout."""
        call = partial(self._invoke, node.effect, attempt.request, context)
        for placement in reversed(self._middleware):
            if not placement.types or node.definition.type in placement.types:
                call = partial(placement.middleware.around_effect, context, call)
        if node.timeout is None:
            await call()
        else:
            await self._within(node.timeout, node, attempt, call)

    async def _within(self, limit: timedelta, node: Node, attempt: A, call: Callable[[], Awaitable[Any]]) -> None:
        over = (limit + self._grace).total_seconds()
        leaving = asyncio.get_running_loop().call_later(over, self._leave, limit, node, attempt)
        try:
            async with asyncio.timeout(limit.total_seconds()) as deadline:
                await call()
        except TimeoutError:
            if not deadline.expired():
                raise
            attempt.canceled = True
            raise ActivityTimeout(node.key, str(limit)) from None
        finally:
            leaving.cancel()

    def _leave(self, limit: timedelta, node: Node, attempt: A) -> None:
        """The attempt was canceled at its timeout and still runs: its code swallowed the cancellation."""
        if attempt.cause is not None:
            return  # Holdfast canceled it before the timeout: no result is expected.
        attempt.left = attempt.canceled = True
        logger.warning("'%s' of instance %s still runs after its timeout", node.key, attempt.origin.instance_id)
        self._report(node, attempt, failure(ActivityTimeout(node.key, str(limit))))

    async def _invoke(self, call: EffectCall, request: EffectRequest, context: RecordingContext) -> None:
        inputs = _by_value(request.inputs)
        if call.mode == "async":
            result = call.run(inputs, context, request.method, request.argument)
            if isawaitable(result):
                await result
        elif call.mode == "process":
            assert call.function is not None
            context.set_output("result", await self._pools.in_process(call.function, inputs))
        else:
            await self._pools.in_thread(lambda: call.run(inputs, context, request.method, request.argument))


def _by_value(inputs: dict[str, Any]) -> dict[str, Any]:
    """A copy, so that changes by the activity do not reach the state. Scalars need no copy: a call copies the dict itself."""
    return inputs if values.SCALARS.issuperset(map(type, inputs.values())) else values.copy(inputs)


def _context(attempt: Attempt) -> RecordingContext:
    origin, request = attempt.origin, attempt.request
    facts = Facts(
        instance_id=origin.instance_id,
        correlation_id=origin.correlation_id,
        definition_id=origin.plan.definition.id,
        activity_id=request.activity_id,
        execution_id=request.execution_id,
        attempt=request.attempt,
        now=moment(origin.now()),
        trace=origin.trace,
    )
    state = values.copy(attempt.state) if attempt.state else {}
    return RecordingContext(
        facts, origin.services, state, is_canceled=lambda: attempt.canceled, properties=origin.properties
    )


# -- telemetry ---------------------------------------------------------------------------------------------------------


def _fields(node: Node, attempt: Attempt) -> dict[str, Any]:
    return {
        "tenant": attempt.origin.tenant,
        "instance_id": attempt.origin.instance_id,
        "definition_id": attempt.origin.plan.definition.id,
        "activity_id": node.key,
        "activity_type": node.definition.type,
        "attempt": attempt.request.attempt,
    }


def _emit(node: Node, attempt: Attempt, result: EffectResult) -> None:
    fields = _fields(node, attempt)
    if not isinstance(result, EffectFailure):
        telemetry.emit("effect.finished", **fields)
    elif result.cause == "timeout":
        telemetry.emit("effect.timed_out", **fields)
    elif attempt.canceled and result.cause == attempt.cause:
        telemetry.emit("effect.canceled", **fields, cause=result.cause)
    else:
        telemetry.emit("effect.faulted", **fields, type=result.type)


def _canceled(node: Node, cause: str | None) -> EffectFailure:
    if cause is None:
        return failure(ExecutionError(f"'{node.key}' raised CancelledError, but Holdfast did not cancel it."))
    return canceled_failure(cause)


def canceled_failure(cause: str) -> EffectFailure:
    """The end of an effect that Holdfast canceled."""
    return EffectFailure(type="Canceled", message=f"canceled: {cause}", cause=cause)
