"""Baseline: a workflow loop as a first implementation would have it, and as many engines have it.

Everything is async. Each execution is an object with a uuid4 and its times as datetimes, passes four middlewares and leaves two
journal entries as dicts. Variables are found by name, from the inside out. Expressions are compiled once, as in Holdfast. Both
compute the same values; the benchmark checks that before it measures.
"""

from __future__ import annotations

import uuid
from collections import deque
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from types import CodeType
from typing import Any

from benchmarks.workloads import ITEM, Step, Workload

Next = Callable[["Execution"], Awaitable[None]]
Middleware = Callable[["Execution", Next], Awaitable[None]]


class Execution:
    """One activity being executed."""

    def __init__(self, run: Run, activity: NaiveActivity, parent: Execution | None) -> None:
        self.id = uuid.uuid4().hex
        self.run = run
        self.activity = activity
        self.parent = parent
        self.status = "running"
        self.started: datetime | None = None
        self.ended: datetime | None = None
        self.inputs: dict[str, Any] = {}
        self.variables: dict[str, Any] = {}
        self.memory: dict[str, Any] = {}
        self.children: list[Execution] = []
        if parent is not None:
            parent.children.append(self)

    def holder(self, name: str) -> dict[str, Any]:
        """The nearest variables that have the name."""
        level: Execution | None = self
        while level is not None:
            if name in level.variables:
                return level.variables
            level = level.parent
        return self.run.variables

    async def evaluate(self, code: CodeType) -> Any:
        return eval(code, {"__builtins__": {"str": str}}, Visible(self))


class Visible(dict[str, Any]):
    """Names visible to an expression."""

    def __init__(self, execution: Execution) -> None:
        super().__init__()
        self._execution = execution

    def __missing__(self, name: str) -> Any:
        return self._execution.holder(name)[name]


class NaiveActivity:
    def __init__(self, step: Step, key: int) -> None:
        self.step = step
        self.key = key
        self.code = compile(step.source, "<naive>", "eval") if step.source else None
        self.children: list[NaiveActivity] = []

    async def execute(self, execution: Execution) -> None:
        raise NotImplementedError

    async def child_ended(self, execution: Execution, child: Execution, outcome: str) -> None:
        raise NotImplementedError


class Assign(NaiveActivity):
    async def execute(self, execution: Execution) -> None:
        assert self.code is not None
        value = execution.inputs["value"] = await execution.evaluate(self.code)
        execution.holder(self.step.name)[self.step.name] = value
        await execution.run.complete(execution)


class Write(NaiveActivity):
    async def execute(self, execution: Execution) -> None:
        assert self.code is not None
        text = execution.inputs["text"] = await execution.evaluate(self.code)
        execution.run.lines.append(text)
        await execution.run.complete(execution)


class Decide(NaiveActivity):
    async def execute(self, execution: Execution) -> None:
        assert self.code is not None
        answer = await execution.evaluate(self.code)
        await execution.run.complete(execution, "True" if answer else "False")


class InSequence(NaiveActivity):
    async def execute(self, execution: Execution) -> None:
        execution.memory["next"] = 0
        await self._advance(execution)

    async def child_ended(self, execution: Execution, child: Execution, outcome: str) -> None:
        await self._advance(execution)

    async def _advance(self, execution: Execution) -> None:
        position = execution.memory["next"]
        if position == len(self.children):
            await execution.run.complete(execution)
            return
        execution.memory["next"] = position + 1
        await execution.run.schedule(self.children[position], execution)


class Each(NaiveActivity):
    async def execute(self, execution: Execution) -> None:
        assert self.code is not None
        execution.memory["items"] = list(await execution.evaluate(self.code))
        execution.memory["next"] = 0
        await self._advance(execution)

    async def child_ended(self, execution: Execution, child: Execution, outcome: str) -> None:
        await self._advance(execution)

    async def _advance(self, execution: Execution) -> None:
        position, items = execution.memory["next"], execution.memory["items"]
        if position == len(items):
            await execution.run.complete(execution)
            return
        execution.memory["next"] = position + 1
        execution.variables[ITEM] = items[position]
        await execution.run.schedule(self.children[0], execution)


class Chart(NaiveActivity):
    async def execute(self, execution: Execution) -> None:
        await execution.run.schedule(self.children[0], execution)

    async def child_ended(self, execution: Execution, child: Execution, outcome: str) -> None:
        """Continues on every arrival. There are no joins, which makes this flowchart the simpler of the two."""
        here = self.children.index(child.activity)
        followed = [target for source, port, target in self.step.links if source == here and port == outcome]
        for target in followed:
            await execution.run.schedule(self.children[target], execution)
        if not followed:
            await execution.run.complete(execution)


KINDS: dict[str, type[NaiveActivity]] = {
    "assign": Assign,
    "write": Write,
    "decide": Decide,
    "sequence": InSequence,
    "each": Each,
    "chart": Chart,
}


# -- four middlewares --------------------------------------------------------------------------------------------------


async def catch_faults(execution: Execution, proceed: Next) -> None:
    try:
        await proceed(execution)
    except Exception:
        execution.status = "faulted"
        raise


async def take_times(execution: Execution, proceed: Next) -> None:
    execution.started = datetime.now(UTC)
    await proceed(execution)
    execution.ended = execution.ended or datetime.now(UTC)


async def keep_journal(execution: Execution, proceed: Next) -> None:
    execution.run.note("started", execution, at=execution.started)
    await proceed(execution)


async def invoke(execution: Execution, proceed: Next) -> None:
    await execution.activity.execute(execution)


def composed(middlewares: tuple[Middleware, ...]) -> Next:
    async def nothing(execution: Execution) -> None:
        return None

    chain: Next = nothing
    for middleware in reversed(middlewares):
        chain = _around(middleware, chain)
    return chain


def _around(middleware: Middleware, proceed: Next) -> Next:
    async def step(execution: Execution) -> None:
        await middleware(execution, proceed)

    return step


PIPELINE = composed((catch_faults, take_times, keep_journal, invoke))


# -- the loop ----------------------------------------------------------------------------------------------------------


class Run:
    """One instance."""

    def __init__(self, root: NaiveActivity, variables: dict[str, Any]) -> None:
        self.root = root
        self.variables = dict(variables)
        self.journal: list[dict[str, Any]] = []
        self.lines: list[Any] = []
        self.living: dict[str, Execution] = {}
        self.queue: deque[Execution] = deque()

    def note(self, event: str, execution: Execution, **more: Any) -> None:
        self.journal.append({"event": event, "id": execution.id, "activity": execution.activity.key, **more})

    async def schedule(self, activity: NaiveActivity, parent: Execution | None) -> None:
        execution = Execution(self, activity, parent)
        self.living[execution.id] = execution
        self.queue.append(execution)

    async def complete(self, execution: Execution, outcome: str = "Done") -> None:
        execution.status = "completed"
        execution.ended = datetime.now(UTC)
        self.note("completed", execution, at=execution.ended, inputs=execution.inputs, outcome=outcome)
        self.living.pop(execution.id)
        if execution.parent is not None:
            execution.parent.children.remove(execution)
            await execution.parent.activity.child_ended(execution.parent, execution, outcome)

    async def to_the_end(self) -> Run:
        await self.schedule(self.root, None)
        while self.queue:
            await PIPELINE(self.queue.popleft())
        return self


def built(workload: Workload) -> NaiveActivity:
    count = 0

    def build(step: Step) -> NaiveActivity:
        nonlocal count
        activity = KINDS[step.kind](step, count)
        count += 1
        activity.children = [build(child) for child in step.children]
        return activity

    return build(workload.root)
