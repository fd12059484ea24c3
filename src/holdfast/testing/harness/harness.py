"""The harness: start, look what it waits for, send, move the clock, ask for the result.

    async with Harness(fulfil) as flow:
        flow.stub(charge, returns=Receipt("r-1"))
        await flow.start("7")
        assert flow.waiting_for == ["Approval"]
        await flow.send(Approval(approved=True))
        assert await flow.result() == Receipt("r-1")

It is the engine itself, without a store: the same segments, and the state of every pause goes through JSON, so that what would
not survive a restart does not survive here either. Arguments and results of activities are copied (rule M17). A `start`,
`send` or `advance` returns when nothing is left to do but to wait.
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
from holdfast.testing.harness.events import Letter, name_of
from holdfast.testing.harness.stubs import NOTHING, Raised, Stub, Stubs

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")


class Harness(Generic[P, R]):
    """One workflow under test.

    Those that it starts with `run_child` come along; `workflows` are others that it starts by name. Everything else goes to
    `Holdfast(…)`.
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
        self._unread: list[Letter] = []

    async def __aenter__(self) -> Self:
        await self._engine.__aenter__()
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._engine.__aexit__(*error)

    # -- doing ---------------------------------------------------------------------------------------------------------

    async def start(self, *args: P.args, **kwargs: P.kwargs) -> None:
        """Start the workflow, with the arguments of its function (or its inputs by name), until it ends or waits."""
        if self._last is not None:
            raise DefinitionError("This harness has started its workflow. Make another one for another run.")
        await self._moved(await self._engine.runner.run(self._workflow, self._inputs(args, kwargs)))

    def _inputs(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        if self._function is not None:
            return dict(signature(self._function).bind(*args, **kwargs).arguments)
        if args:
            raise DefinitionError("A workflow of objects takes its inputs by name: flow.start(amount=20).")
        return kwargs

    async def send(self, event: Any, payload: Any = None, *, key: Any = None, broadcast: bool = False) -> None:
        """Send an event: an object of its class, or a name with a payload.

        Without an address it is sent to whatever this workflow waits for under that name: the harness writes the key, if the
        wait has one. With `key` or `broadcast` only such waits take it, as in the runtime. What nobody waits for is kept, and
        read when somebody does (see `unread`).
        """
        name, sent = named_event(event, payload)
        self._unread.append(Letter(name=name, payload=values.copy(sent), key=key, broadcast=broadcast))
        await self._moved(self._instance)

    async def answer(self, answer: Any) -> None:
        """Complete the oldest task that the workflow has asked somebody to do (`ask`)."""
        result = self._instance
        task = next((item for item in result.bookmarks if "task_id" in _record(item.payload)), None)
        if task is None:
            raise DefinitionError(f"Nobody was asked for anything. It waits for {self._waits_in_words()}.")
        await self._moved(await self._engine.runner.resume(result, task, values.copy(answer)))

    async def advance(self, by: timedelta) -> None:
        """Move the clock. What falls due on the way happens at its own moment, in order."""
        until = self.clock.now() + by
        while (first := self._first_due()) is not None and first[0] <= until:
            due, bookmark = first
            self.clock.set(max(due, self.clock.now()))
            await self._moved(await self._engine.runner.resume(self._instance, bookmark))
        self.clock.set(until)

    async def cancel(self) -> None:
        """Cancel the instance: `finally` parts and compensations run."""
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
        """Answer for an activity: a value, an exception, or what another function gives for the same arguments.

        `times` answers so many calls; then the next stub of the same activity has its turn, and after the last one the
        activity itself.
        """
        made = Stub(returns=returns, raises=raises, calls=calls, times=times)
        self._stubs.add(activity, made)
        return made

    def calls(self, activity: FunctionActivity[..., Any]) -> list[dict[str, Any]]:
        """Every call of an activity so far, stubbed or not: the arguments by name."""
        return self._stubs.calls(activity)

    # -- looking -------------------------------------------------------------------------------------------------------

    async def result(self) -> R:
        """What the workflow returned. Raises what it raised; `NoResult` while it waits."""
        result = self._instance
        if result.status is Status.FINISHED:
            found: Any = result.outputs.get("result") if self._function is not None else result.outputs
            return found  # type: ignore[no-any-return]  # what the function's annotation says
        if result.status is Status.FAULTED:
            if result.error is not None:
                raise result.error
            first = result.incidents[0]
            raise InstanceFaulted(
                result.instance_id, fault_type=first.type, message=first.message, incident_id=first.id
            )
        reason = f"it waits for {self._waits_in_words()}. Send that, or advance the clock."
        raise NoResult(
            result.instance_id, result.status, reason if not result.status.at_rest else f"it was {result.status}."
        )

    @property
    def status(self) -> Status:
        return Status.PENDING if self._last is None else self._last.status

    @property
    def waiting_for(self) -> list[str]:
        """The names of the events that it waits for, `sleep`, the names of tasks, `retry of …`; in the order of the waits."""
        return [] if self._last is None else [name for item in self._last.bookmarks if (name := name_of(item))]

    @property
    def bookmarks(self) -> list[Bookmark]:
        """The same with everything that there is to know."""
        return [] if self._last is None else self._last.bookmarks

    @property
    def next_due(self) -> datetime | None:
        """The moment at which it goes on by itself."""
        first = self._first_due()
        return None if first is None else first[0]

    @property
    def unread(self) -> list[Any]:
        """Events that were sent and that nobody has waited for yet."""
        return [letter.payload for letter in self._unread]

    @property
    def journal(self) -> list[JournalEntry]:
        return [] if self._last is None else self._last.journal

    @property
    def lines(self) -> list[str]:
        """What WriteLine has written."""
        return [] if self._last is None else list(self._last.lines)

    @property
    def published(self) -> list[dict[str, Any]]:
        """Events that the workflow published."""
        return [] if self._last is None else self._last.published

    # -- inside --------------------------------------------------------------------------------------------------------

    @property
    def _instance(self) -> RunResult:
        if self._last is None:
            raise DefinitionError("Nothing has started yet: await flow.start(…) first.")
        return self._last

    async def _moved(self, result: RunResult) -> None:
        """Remember where it is, and hand it the letters that it waits for now: the oldest first, once each."""
        self._last = result
        while (found := self._deliverable()) is not None:
            letter, bookmark = found
            if not letter.broadcast:
                self._unread.remove(letter)
            else:
                letter.seen_by.add(bookmark.id)
            self._last = await self._engine.runner.resume(self._last, bookmark, letter.payload)
        self._unread = [letter for letter in self._unread if not letter.seen_by]

    def _deliverable(self) -> tuple[Letter, Bookmark] | None:
        assert self._last is not None
        waiting = self._last.bookmarks
        return next(((letter, mark) for letter in self._unread for mark in waiting if letter.fits(mark)), None)

    def _first_due(self) -> tuple[datetime, str] | None:
        return None if self._last is None else min(_dues(self._last), default=None)

    def _waits_in_words(self) -> str:
        return ", ".join(self.waiting_for) or "nothing"


def _record(payload: Any) -> dict[str, Any]:
    return payload if isinstance(payload, dict) else {}


def _dues(result: RunResult, path: str = "") -> Iterator[tuple[datetime, str]]:
    """Everything that happens by itself, here and in children, also timeouts, which are nobody else's business."""
    if result.status.at_rest:
        return
    for item in result._live.bookmarks.values():
        if item.due is not None:
            yield item.due, f"{path}{item.id}"
        if item.kind is BookmarkKind.CHILD and item.id in result.children:
            child = result.children[item.id]
            yield from _dues(child, f"{path}{child.instance_id}/")
