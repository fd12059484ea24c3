"""Primitives of plain Python workflows: activities in a compiled workflow, ordinary functions in a direct call.

    @workflow
    async def fulfil(order_id: str) -> Receipt:
        order = await fetch_order(order_id)
        if order.total > 1_000:
            answer = await wait_for(Approval, key=order_id, timeout=timedelta(days=3), default=Approval(approved=False))
            ...
        return await charge(order)

`fulfil("7")` is the plain coroutine: activities run as functions, and `sleep` sleeps. Primitives that wait for external
input take their answers from `doubles(…)`:

    with doubles(wait_for=lambda event, **options: Approval(approved=True)):
        receipt = await fulfil("7")
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from inspect import isawaitable
from typing import Any, ParamSpec, Self, TypeVar, overload

from holdfast.errors import ActivityFault, DefinitionError
from holdfast.model.types.conversion import build

P = ParamSpec("P")
T = TypeVar("T")
T1 = TypeVar("T1")
T2 = TypeVar("T2")
T3 = TypeVar("T3")

_doubles: ContextVar[Mapping[str, Callable[..., Any]]] = ContextVar("holdfast_doubles", default={})  # noqa: B039 # never changed


@contextmanager
def doubles(**words: Callable[..., Any]) -> Iterator[None]:
    """Replace `sleep`, `wait_for`, `ask` and `run_child` in unit tests that call a workflow function directly."""
    token = _doubles.set({**_doubles.get(), **words})
    try:
        yield
    finally:
        _doubles.reset(token)


def _primitive(name: str) -> Callable[[T], T]:
    def mark(function: T) -> T:
        function.__holdfast_word__ = name  # type: ignore[attr-defined]  # marker for the compiler
        return function

    return mark


async def _double(word: str, *args: Any, **options: Any) -> Any:
    stand_in = _doubles.get().get(word)
    if stand_in is None:
        raise DefinitionError(
            f"`{word}` waits for external input, which a direct call cannot do. Run the workflow with Holdfast().runner, "
            f"or provide the answer: with holdfast.testing.doubles({word}=lambda *args, **options: …)."
        )
    found = stand_in(*args, **options)
    return await found if isawaitable(found) else found


# -- waits ---------------------------------------------------------------------------------------------------------------


@_primitive("sleep")
async def sleep(until: timedelta | datetime) -> None:
    """Wait for a duration, or until a moment."""
    if "sleep" in _doubles.get():
        await _double("sleep", until)
        return
    wait = until if isinstance(until, timedelta) else until - datetime.now(UTC)
    await asyncio.sleep(max(0.0, wait.total_seconds()))


@overload
async def wait_for(
    event: type[T],
    *,
    key: Any = None,
    timeout: timedelta | datetime | None = None,
    default: T | None = None,
    where: Callable[[T], bool] | None = None,
    broadcast: bool = False,
) -> T: ...
@overload
async def wait_for(
    event: str,
    *,
    key: Any = None,
    timeout: timedelta | datetime | None = None,
    default: Any = None,
    where: Callable[[Any], bool] | None = None,
    broadcast: bool = False,
) -> Any: ...
@_primitive("wait_for")
async def wait_for(event: Any, **options: Any) -> Any:
    """Wait for an event.

    The event is sent to this instance or its correlation id, to `key`, or to all instances (`broadcast`). After
    `timeout` the result is `default`; without a default, `TimeoutError` is raised. Events that do not satisfy `where`
    are ignored.
    """
    return await _double("wait_for", event, **options)


@overload
async def ask(
    who: str, *, form: type[T], about: Any = None, title: str = "", due: datetime | timedelta | None = None
) -> T: ...
@overload
async def ask(who: str, *, about: Any = None, title: str = "", due: datetime | timedelta | None = None) -> Any: ...
@_primitive("ask")
async def ask(who: str, **options: Any) -> Any:
    """Create a task for a user (`"ann"`) or a role (`"role:bosses"`) and wait for the answer."""
    return await _double("ask", who, **options)


@_primitive("poll")
async def poll(call: Awaitable[T], *, until: Callable[[T], bool], every: timedelta) -> T:
    """Repeat a call, with a pause in between, until the result satisfies `until`.

    In a direct call it awaits the call once, because a coroutine cannot be repeated.
    """
    found = await call
    if not until(found):
        raise DefinitionError(
            "`poll` repeats its call only in a compiled workflow. Let the activity's double return a final answer."
        )
    return found


# -- concurrency ---------------------------------------------------------------------------------------------------------


@overload
async def gather(call: Awaitable[T1], /) -> tuple[T1]: ...
@overload
async def gather(call: Awaitable[T1], other: Awaitable[T2], /) -> tuple[T1, T2]: ...
@overload
async def gather(call: Awaitable[T1], other: Awaitable[T2], third: Awaitable[T3], /) -> tuple[T1, T2, T3]: ...
@overload
async def gather(*calls: Awaitable[T]) -> list[T]: ...
@_primitive("gather")
async def gather(*calls: Awaitable[Any]) -> Any:
    """Run calls concurrently and return their results in the order of the calls.

    The first failure cancels the other calls and is raised.
    """
    return await _all([asyncio.ensure_future(call) for call in calls])


async def _all(tasks: list[asyncio.Future[Any]]) -> list[Any]:
    if not tasks:
        return []
    done, waiting = await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
    for task in waiting:
        task.cancel()
    if waiting:
        await asyncio.wait(waiting)
    for task in tasks:
        if task in done and task.exception() is not None:
            task.result()
    return [task.result() for task in tasks]


@_primitive("first")
async def first(*calls: Awaitable[T]) -> T:
    """Run calls concurrently. The first call that ends gives the result; the others are canceled."""
    tasks = [asyncio.ensure_future(call) for call in calls]
    done, waiting = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    for task in waiting:
        task.cancel()
    if waiting:
        await asyncio.wait(waiting)
    return next(task for task in tasks if task in done).result()


@_primitive("parallel")
class parallel:  # noqa: N801 # reads as a function: `async with parallel(…)`
    """`async with parallel(limit=10) as branches: branches.start(reserve(line))`; afterwards `branches.results`."""

    def __init__(self, limit: int | None = None) -> None:
        self._limit = asyncio.Semaphore(limit) if limit is not None else None
        self._tasks: list[asyncio.Future[Any]] = []
        self.results: list[Any] = []

    def start(self, call: Coroutine[Any, Any, Any]) -> None:
        """Start a call. It ends before the block ends."""
        self._tasks.append(asyncio.ensure_future(self._run(call)))

    async def _run(self, call: Coroutine[Any, Any, Any]) -> Any:
        if self._limit is None:
            return await call
        async with self._limit:
            return await call

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: object, error: object, traceback: object) -> None:
        if kind is not None:
            for task in self._tasks:
                task.cancel()
            if self._tasks:
                await asyncio.wait(self._tasks)
            return
        self.results = await _all(self._tasks)


@dataclass
class Finished:
    """Value of `branches` after the block of `async with parallel(…) as branches`."""

    results: list[Any] = field(default_factory=list)


class _PendingCompensation:
    """A registered call that may still run. It is closed if it never runs."""

    def __init__(self, call: Coroutine[Any, Any, Any]) -> None:
        self.call = call

    def __del__(self) -> None:
        self.call.close()


_compensations: ContextVar[list[_PendingCompensation] | None] = ContextVar("holdfast_undoing", default=None)


@_primitive("compensate")
async def compensate(call: Coroutine[Any, Any, Any] | None = None) -> None:
    """Register a compensation, or run all registered compensations.

    With a call, registers it as the compensation of the work just done. Without a call, runs all compensations, last
    one first. Canceling the instance also runs them.
    """
    remembered = _compensations.get()
    if remembered is None:
        _compensations.set(remembered := [])
    if call is not None:
        remembered.append(_PendingCompensation(call))
        return
    while remembered:
        latest = remembered.pop()
        await latest.call


# -- other instances ---------------------------------------------------------------------------------------------------


@_primitive("run_child")
async def run_child(workflow: Callable[P, Coroutine[Any, Any, T]], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run another workflow as a separate instance and wait for its result."""
    if "run_child" in _doubles.get():
        found: T = await _double("run_child", workflow, *args, **kwargs)
        return found
    return await workflow(*args, **kwargs)


def child_result(ended: Mapping[str, Any]) -> Any:
    """Result of a child that has ended; raises if it did not finish. Older stored code refers to it by this name."""
    if str(ended.get("status")) != "finished":
        raise ActivityFault(
            f"The workflow {ended.get('instance_id')} ended as {ended.get('status')}.", category="Composition"
        )
    return ended["outputs"].get("result")


def filled_in(answer: Any, form: type[T]) -> T:
    """A person's answer as an object of the form."""
    found: T = answer if isinstance(answer, form) else build(dict(answer), form, strict=False)
    return found
