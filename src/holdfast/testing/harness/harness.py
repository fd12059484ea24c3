"""Test harness: start a workflow, inspect its waits, send events, move the clock, read the result.

    async with Harness(fulfil) as flow:
        flow.stub(charge, returns=Receipt("r-1"))
        await flow.start("7")
        assert flow.waiting_for == ["Approval"]
        await flow.send(Approval(approved=True))
        assert await flow.result() == Receipt("r-1")

It is the engine itself, without a store. It runs the same segments, and the state of every pause goes through JSON, so
values that would not survive a restart do not survive here either. Arguments and results of activities are copied (rule
M17). `start`, `send` and `advance` return when the workflow has ended or waits.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable, Iterator
from datetime import datetime, timedelta
from inspect import signature
from types import CoroutineType
from typing import Any, Generic, ParamSpec, Self, TypeVar, overload

from holdfast.authoring.activity import Activity
from holdfast.authoring.compiled import WorkflowFunction
from holdfast.authoring.function import FunctionActivity
from holdfast.authoring.workflow import Workflow
from holdfast.engine import Holdfast
from holdfast.errors import DefinitionError, InstanceFaulted, NoResult
from holdfast.model import values
from holdfast.model.instance import Bookmark, BookmarkKind, JournalEntry, Status
from holdfast.runtime.dispatchers.event_names import named_event
from holdfast.runtime.result import RunResult
from holdfast.testing.clock import START, VirtualClock
from holdfast.testing.harness.events import SentEvent, name_of
from holdfast.testing.harness.stubs import NOTHING, Raised, Stub, Stubs

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")


class Harness(Generic[P, R]):
    """One workflow under test.

    Workflows that it starts with `run_child` are included; `workflows` are others that it starts by name. All other
    arguments go to `Holdfast(…)`.
    """

    @overload
    def __init__(
        self,
        workflow: WorkflowFunction[P, R],
        *,
        at: datetime = START,
        workflows: Iterable[Workflow] = (),
        **engine: Any,
    ) -> None: ...
    @overload
    def __init__(
        self: Harness[..., dict[str, Any]],
        workflow: Workflow | Activity,
        *,
        at: datetime = START,
        workflows: Iterable[Workflow] = (),
        **engine: Any,
    ) -> None: ...
    def __init__(
        self, workflow: Any, *, at: datetime = START, workflows: Iterable[Workflow] = (), **engine: Any
    ) -> None:
        self.clock = VirtualClock(at, jump=False)
        self._stubs = Stubs()
        self._function = workflow.function if isinstance(workflow, WorkflowFunction) else None
        self._workflow = self._stubs.stand_in(workflow if isinstance(workflow, Workflow) else Workflow(workflow))
        others = [self._stubs.stand_in(item) for item in workflows]
        self._engine = Holdfast(clock=self.clock, definitions=others, **engine)
        self._last: RunResult | None = None
        self._unread: list[SentEvent] = []

    async def __aenter__(self) -> Self:
        await self._engine.__aenter__()
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._engine.__aexit__(*error)

    # -- actions -------------------------------------------------------------------------------------------------------

    async def start(self, *args: P.args, **kwargs: P.kwargs) -> None:
        """Start the workflow and run it until it ends or waits.

        Takes the arguments of the workflow function, or the inputs by name.
        """
        if self._last is not None:
            raise DefinitionError("This harness has already started its workflow. Create a new harness for each run.")
        await self._moved(await self._engine.runner.run(self._workflow, self._inputs(args, kwargs)))

    def _inputs(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        if self._function is not None:
            return dict(signature(self._function).bind(*args, **kwargs).arguments)
        if args:
            raise DefinitionError("A workflow built from objects takes its inputs by name: flow.start(amount=20).")
        return kwargs

    async def send(self, event: Any, payload: Any = None, *, key: Any = None, broadcast: bool = False) -> None:
        """Send an event: an object of its class, or a name with a payload.

        Without an address, any wait of this workflow for that name receives it; the harness fills in the key if the
        wait has one. With `key` or `broadcast`, only matching waits receive it, as in the runtime. An event without a
        matching wait is kept and delivered when one appears (see `unread`).
        """
        name, sent = named_event(event, payload)
        self._unread.append(SentEvent(name=name, payload=values.copy(sent), key=key, broadcast=broadcast))
        await self._moved(self._instance)

    async def answer(self, answer: Any) -> None:
        """Complete the oldest open task (`ask`)."""
        result = self._instance
        task = next((item for item in result.bookmarks if "task_id" in _record(item.payload)), None)
        if task is None:
            raise DefinitionError(f"There is no open task. The workflow waits for {self._waits_in_words()}.")
        await self._moved(await self._engine.runner.resume(result, task, values.copy(answer)))

    async def advance(self, by: timedelta) -> None:
        """Move the clock. Timers on the way fire at their own due time, in order."""
        until = self.clock.now() + by
        while (first := self._first_due()) is not None and first[0] <= until:
            due, bookmark = first
            self.clock.set(max(due, self.clock.now()))
            await self._moved(await self._engine.runner.resume(self._instance, bookmark))
        self.clock.set(until)

    async def cancel(self) -> None:
        """Cancel the instance; `finally` blocks and compensations run."""
        self._last = await self._engine.runner.cancel(self._instance)

    # -- stubs ---------------------------------------------------------------------------------------------------------

    @overload
    def stub(
        self,
        activity: FunctionActivity[..., CoroutineType[Any, Any, T]],
        *,
        returns: T = ...,
        raises: Raised | None = None,
        calls: Callable[..., T | Coroutine[Any, Any, T]] | None = None,
        times: int | None = None,
    ) -> Stub: ...
    @overload
    def stub(
        self,
        activity: FunctionActivity[..., Coroutine[Any, Any, T]],
        *,
        returns: T = ...,
        raises: Raised | None = None,
        calls: Callable[..., T | Coroutine[Any, Any, T]] | None = None,
        times: int | None = None,
    ) -> Stub: ...
    @overload
    def stub(
        self,
        activity: FunctionActivity[..., T],
        *,
        returns: T = ...,
        raises: Raised | None = None,
        calls: Callable[..., T] | None = None,
        times: int | None = None,
    ) -> Stub: ...
    def stub(
        self,
        activity: Any,
        *,
        returns: Any = NOTHING,
        raises: Raised | None = None,
        calls: Callable[..., Any] | None = None,
        times: int | None = None,
    ) -> Stub:
        """Replace an activity with a return value, an exception, or a function that gets the same arguments.

        `times` limits the number of calls. After that, the next stub of the same activity answers, and after the last
        stub the activity itself.
        """
        made = Stub(returns=returns, raises=raises, calls=calls, times=times)
        self._stubs.add(activity, made)
        return made

    def calls(self, activity: FunctionActivity[..., Any]) -> list[dict[str, Any]]:
        """All calls of an activity so far, stubbed or not: the arguments by name."""
        return self._stubs.calls(activity)

    # -- inspection ----------------------------------------------------------------------------------------------------

    async def result(self) -> R:
        """Return value of the workflow. Raises its exception if it failed, and `NoResult` while it waits."""
        result = self._instance
        if result.status is Status.FINISHED:
            found: Any = result.outputs.get("result") if self._function is not None else result.outputs
            return found  # type: ignore[no-any-return]  # the type of the function's annotation
        if result.status is Status.FAULTED:
            if result.error is not None:
                raise result.error
            first = result.incidents[0]
            raise InstanceFaulted(
                result.instance_id, fault_type=first.type, message=first.message, incident_id=first.id
            )
        reason = f"it waits for {self._waits_in_words()}. Send it, or advance the clock."
        raise NoResult(
            result.instance_id, result.status, reason if not result.status.at_rest else f"it was {result.status}."
        )

    @property
    def status(self) -> Status:
        return Status.PENDING if self._last is None else self._last.status

    @property
    def waiting_for(self) -> list[str]:
        """Names of the current waits, in order: event names, `sleep`, task names, `retry of …`."""
        return [] if self._last is None else [name for item in self._last.bookmarks if (name := name_of(item))]

    @property
    def bookmarks(self) -> list[Bookmark]:
        """The current waits with all details."""
        return [] if self._last is None else self._last.bookmarks

    @property
    def next_due(self) -> datetime | None:
        """Time at which the workflow continues by itself."""
        first = self._first_due()
        return None if first is None else first[0]

    @property
    def unread(self) -> list[Any]:
        """Sent events that no wait has received yet."""
        return [event.payload for event in self._unread]

    @property
    def journal(self) -> list[JournalEntry]:
        return [] if self._last is None else self._last.journal

    @property
    def lines(self) -> list[str]:
        """Lines written by WriteLine."""
        return [] if self._last is None else list(self._last.lines)

    @property
    def published(self) -> list[dict[str, Any]]:
        """Events that the workflow published."""
        return [] if self._last is None else self._last.published

    # -- internals -----------------------------------------------------------------------------------------------------

    @property
    def _instance(self) -> RunResult:
        if self._last is None:
            raise DefinitionError("The workflow has not started: await flow.start(…) first.")
        return self._last

    async def _moved(self, result: RunResult) -> None:
        """Store the new result, then deliver pending events to matching waits, oldest first, once each."""
        self._last = result
        while (found := self._deliverable()) is not None:
            event, bookmark = found
            if not event.broadcast:
                self._unread.remove(event)
            else:
                event.seen_by.add(bookmark.id)
            self._last = await self._engine.runner.resume(self._last, bookmark, event.payload)
        self._unread = [event for event in self._unread if not event.seen_by]

    def _deliverable(self) -> tuple[SentEvent, Bookmark] | None:
        assert self._last is not None
        waiting = self._last.bookmarks
        return next(((event, mark) for event in self._unread for mark in waiting if event.fits(mark)), None)

    def _first_due(self) -> tuple[datetime, str] | None:
        return None if self._last is None else min(_dues(self._last), default=None)

    def _waits_in_words(self) -> str:
        return ", ".join(self.waiting_for) or "nothing"


def _record(payload: Any) -> dict[str, Any]:
    return payload if isinstance(payload, dict) else {}


def _dues(result: RunResult, path: str = "") -> Iterator[tuple[datetime, str]]:
    """Due times of all timers, including timeouts and those of children."""
    if result.status.at_rest:
        return
    for item in result._live.bookmarks.values():
        if item.due is not None:
            yield item.due, f"{path}{item.id}"
        if item.kind is BookmarkKind.CHILD and item.id in result.children:
            child = result.children[item.id]
            yield from _dues(child, f"{path}{child.instance_id}/")
