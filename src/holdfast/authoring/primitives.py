"""The words of plain Python workflows. Inside a compiled workflow they are activities; called directly they do what they say.

    @workflow
    async def fulfil(order_id: str) -> Receipt:
        order = await fetch_order(order_id)
        if order.total > 1_000:
            answer = await wait_for(Approval, key=order_id, timeout=timedelta(days=3), default=Approval(approved=False))
            ...
        return await charge(order)

`fulfil("7")` is the plain coroutine: activities run as their functions, `sleep` sleeps, and what would wait for others takes
the answer from `doubles(…)`:

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
    """In unit tests: what `sleep`, `wait_for`, `ask` and `run_child` do while a workflow function is called directly."""
    token = _doubles.set({**_doubles.get(), **words})
    try:
        yield
    finally:
        _doubles.reset(token)


def _word(name: str) -> Callable[[T], T]:
    def mark(function: T) -> T:
        function.__holdfast_word__ = name  # type: ignore[attr-defined]  # how the compiler tells it
        return function

    return mark


async def _double(word: str, *args: Any, **options: Any) -> Any:
    stand_in = _doubles.get().get(word)
    if stand_in is None:
        raise DefinitionError(
            f"`{word}` waits for someone outside, and this is a direct call. Run the workflow with Holdfast().runner, "
            f"or give the answer: with holdfast.testing.doubles({word}=lambda *args, **options: …)."
        )
    found = stand_in(*args, **options)
    return await found if isawaitable(found) else found


# -- waiting -----------------------------------------------------------------------------------------------------------


@_word("sleep")
async def sleep(until: timedelta | datetime) -> None:
    """Wait for a while, or until a moment."""
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
@_word("wait_for")
async def wait_for(event: Any, **options: Any) -> Any:
    """Wait for an event: sent to this instance or its correlation id; to `key`, from anywhere; or `broadcast`.

    After `timeout` the result is `default`; without one `TimeoutError` is raised. `where` lets other events pass by.
    """
    return await _double("wait_for", event, **options)


@overload
async def ask(
    who: str, *, form: type[T], about: Any = None, title: str = "", due: datetime | timedelta | None = None
) -> T: ...
@overload
async def ask(who: str, *, about: Any = None, title: str = "", due: datetime | timedelta | None = None) -> Any: ...
@_word("ask")
async def ask(who: str, **options: Any) -> Any:
    """A task for a person (`"ann"`) or a role (`"role:bosses"`); the result is what they fill in."""
    return await _double("ask", who, **options)


@_word("poll")
async def poll(call: Awaitable[T], *, until: Callable[[T], bool], every: timedelta) -> T:
    """Call again and again, with a pause between, until the result is what you wait for.

    Called directly it awaits the call once: a coroutine cannot be repeated.
    """
    found = await call
    if not until(found):
        raise DefinitionError(
            "`poll` repeats its call only in a compiled workflow; give the activity's double an answer."
        )
    return found


# -- several at once ---------------------------------------------------------------------------------------------------


@overload
async def gather(call: Awaitable[T1], /) -> tuple[T1]: ...
@overload
async def gather(call: Awaitable[T1], other: Awaitable[T2], /) -> tuple[T1, T2]: ...
@overload
async def gather(call: Awaitable[T1], other: Awaitable[T2], third: Awaitable[T3], /) -> tuple[T1, T2, T3]: ...
@overload
async def gather(*calls: Awaitable[T]) -> list[T]: ...
@_word("gather")
async def gather(*calls: Awaitable[Any]) -> Any:
    """All at once; the results in the order of the calls. The first failure cancels the others and is raised."""
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


@_word("first")
async def first(*calls: Awaitable[T]) -> T:
    """All at once; the first that ends gives the result, the others are canceled."""
    tasks = [asyncio.ensure_future(call) for call in calls]
    done, waiting = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    for task in waiting:
        task.cancel()
    if waiting:
        await asyncio.wait(waiting)
    return next(task for task in tasks if task in done).result()


@_word("parallel")
class parallel:  # noqa: N801 # a word, as `async with parallel(…)` reads
    """`async with parallel(limit=10) as branches: branches.start(reserve(line))`; afterwards `branches.results`."""

    def __init__(self, limit: int | None = None) -> None:
        self._limit = asyncio.Semaphore(limit) if limit is not None else None
        self._tasks: list[asyncio.Future[Any]] = []
        self.results: list[Any] = []

    def start(self, call: Coroutine[Any, Any, Any]) -> None:
        """One more call; it ends before the block does."""
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
    """What `branches` is after the block of `async with parallel(…) as branches`."""

    results: list[Any] = field(default_factory=list)


class _Undoing:
    """A call that may still be made; one that never is ends quietly."""

    def __init__(self, call: Coroutine[Any, Any, Any]) -> None:
        self.call = call

    def __del__(self) -> None:
        self.call.close()


_undoing: ContextVar[list[_Undoing] | None] = ContextVar("holdfast_undoing", default=None)


@_word("compensate")
async def compensate(call: Coroutine[Any, Any, Any] | None = None) -> None:
    """With a call: remember what takes back the work just done. Without: take back all that is remembered, the last first.

    Canceling the instance takes it back, too.
    """
    remembered = _undoing.get()
    if remembered is None:
        _undoing.set(remembered := [])
    if call is not None:
        remembered.append(_Undoing(call))
        return
    while remembered:
        latest = remembered.pop()
        await latest.call


# -- other instances ---------------------------------------------------------------------------------------------------


@_word("run_child")
async def run_child(workflow: Callable[P, Coroutine[Any, Any, T]], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run another workflow as an instance of its own, and wait for its result."""
    if "run_child" in _doubles.get():
        found: T = await _double("run_child", workflow, *args, **kwargs)
        return found
    return await workflow(*args, **kwargs)


def child_result(ended: Mapping[str, Any]) -> Any:
    """What a child that has ended returned; its failure is ours. Stored code of before refers to it by this name."""
    if str(ended.get("status")) != "finished":
        raise ActivityFault(
            f"The workflow {ended.get('instance_id')} ended as {ended.get('status')}.", category="Composition"
        )
    return ended["outputs"].get("result")


def filled_in(answer: Any, form: type[T]) -> T:
    """What a person filled in, as an object of the form."""
    found: T = answer if isinstance(answer, form) else build(dict(answer), form, strict=False)
    return found
