"""Random structured workflows, compared with a small interpreter that was written from the documentation alone.

The interpreter works depth first over generators, as Python itself would run such a program; it knows nothing of queues,
activations or plans. Branches that run at once are compared as sets of lines per branch, since their order among each
other is the engine's business.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from holdfast import Activity, Holdfast, Runner, RunResult, Status, Workflow, expr
from holdfast.activities import (
    Break,
    Continue,
    DoWhile,
    Event,
    Fault,
    For,
    ForEach,
    Fork,
    If,
    Parallel,
    Sequence,
    SetVariable,
    Switch,
    Try,
    While,
    WriteLine,
)
from holdfast.execution import delivery, snapshot
from holdfast.execution.live import LiveInstance
from holdfast.execution.segment import Ended, Limits, run_segment

Carry = Callable[[Runner, RunResult, Any], RunResult]
Perform = Callable[[Any], Any]

Tree = tuple[Any, ...]
"""("say", text), ("set", name, value), ("seq", trees), ("if", flag, then, else) …"""

NAMES = st.sampled_from(["x", "y"])
FLAGS = st.sampled_from(["True", "False", "x == 1", "y == 2", "x < y"])


def trees(*, at_once: bool) -> st.SearchStrategy[Tree]:
    leaves = st.one_of(
        st.tuples(st.just("say"), st.sampled_from("abc")),
        st.tuples(st.just("set"), NAMES, st.integers(0, 2)),
        st.tuples(st.just("fault"), st.sampled_from(["E1", "E2"])),
        st.tuples(st.just("break")),
        st.tuples(st.just("continue")),
        st.tuples(st.just("wait")),
        st.tuples(st.just("say"), st.sampled_from("def")),
    )

    def grow(inner: st.SearchStrategy[Tree]) -> st.SearchStrategy[Tree]:
        several = st.lists(inner, max_size=4).map(tuple)
        maybe = st.none() | inner
        kinds = [
            st.tuples(st.just("seq"), several),
            st.tuples(st.just("seq"), several),
            st.tuples(st.just("if"), FLAGS, maybe, maybe),
            st.tuples(st.just("switch"), st.lists(st.tuples(FLAGS, maybe), max_size=3).map(tuple), maybe),
            st.tuples(st.just("each"), st.integers(0, 3), inner),
            st.tuples(st.just("for"), st.integers(0, 2), st.booleans(), inner),
            st.tuples(
                st.just("try"),
                maybe,
                st.lists(st.tuples(st.sampled_from(["ActivityFault", "KeyError", ""]), maybe), max_size=2).map(tuple),
                maybe,
            ),
            st.tuples(st.just("count"), st.booleans(), inner),
        ]
        if at_once:
            kinds += [st.tuples(st.just("parallel"), several), st.tuples(st.just("fork"), st.booleans(), several)]
        return st.one_of(kinds)

    return st.recursive(leaves, grow, max_leaves=14)


# -- the tree as a workflow --------------------------------------------------------------------------------------------


def build(tree: Tree | None) -> Activity | None:
    return None if tree is None else _BUILD[tree[0]](tree)


def _counting(tree: Tree) -> Activity:
    """A loop with a counter of its own, so that it always ends."""
    loop = (While if tree[1] else DoWhile)(
        expr("passes < 2"), Sequence(SetVariable("passes", expr("passes + 1")), _must(tree[2]))
    )
    return Sequence(loop, variables={"passes": 0})


def _must(tree: Tree) -> Activity:
    built = build(tree)
    assert built is not None
    return built


_BUILD: dict[str, Callable[[Tree], Activity]] = {
    "say": lambda tree: WriteLine(tree[1]),
    "set": lambda tree: SetVariable(tree[1], tree[2]),
    "fault": lambda tree: Fault(tree[1]),
    "break": lambda tree: Break(),
    "continue": lambda tree: Continue(),
    "wait": lambda tree: Event("go"),
    "seq": lambda tree: Sequence(*map(_must, tree[1])),
    "if": lambda tree: If(expr(tree[1]), then=build(tree[2]), otherwise=build(tree[3])),
    "switch": lambda tree: Switch(
        [{"label": flag, "condition": expr(flag), "activity": build(inner)} for flag, inner in tree[1]],
        default=build(tree[2]),
    ),
    "each": lambda tree: ForEach(list(range(tree[1])), build(tree[2])),
    "for": lambda tree: For(0, tree[1], inclusive=tree[2], body=build(tree[3])),
    "try": lambda tree: Try(
        body=build(tree[1]),
        catches=[{"errors": [name] if name else [], "activity": build(inner)} for name, inner in tree[2]],
        finally_=build(tree[3]),
    ),
    "count": _counting,
    "parallel": lambda tree: Parallel(*map(_must, tree[1])),
    "fork": lambda tree: Fork(*map(_must, tree[2]), join="wait_any" if tree[1] else "wait_all"),
}


def workflow_of(tree: Tree) -> Workflow:
    return Workflow(Sequence(_must(tree), WriteLine("end")), id="tree", variables={"x": 1, "y": 2})


# -- the interpreter ---------------------------------------------------------------------------------------------------


class Signal(Exception):
    """Break or Continue on its way to a loop."""


class Broken(Signal):
    pass


class Continued(Signal):
    pass


class Failed(Exception):
    pass


class Interpreter:
    """Runs a tree without branches at once."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.variables: dict[str, Any] = {"x": 1, "y": 2}

    def program(self, tree: Tree) -> Status:
        try:
            self.run(("seq", (tree, ("say", "end"))))
        except Failed:
            return Status.FAULTED
        except Signal:
            pass
        return Status.FINISHED

    def run(self, tree: Tree | None) -> None:
        if tree is not None:
            getattr(self, f"run_{tree[0]}")(*tree[1:])

    def holds(self, flag: str) -> bool:
        return bool(eval(flag, {}, self.variables))

    def run_say(self, text: str) -> None:
        self.lines.append(text)

    def run_set(self, name: str, value: Any) -> None:
        self.variables[name] = value

    def run_fault(self, message: str) -> None:
        raise Failed(message)

    def run_break(self) -> None:
        raise Broken

    def run_continue(self) -> None:
        raise Continued

    def run_wait(self) -> None:
        """The test resumes whatever waits."""

    def run_seq(self, inner: tuple[Tree, ...]) -> None:
        for tree in inner:
            self.run(tree)

    def run_if(self, flag: str, then: Tree | None, otherwise: Tree | None) -> None:
        self.run(then if self.holds(flag) else otherwise)

    def run_switch(self, cases: tuple[tuple[str, Tree | None], ...], default: Tree | None) -> None:
        self.run(next((inner for flag, inner in cases if self.holds(flag)), default))

    def run_each(self, count: int, body: Tree) -> None:
        self.loop(range(count), body)

    def run_for(self, end: int, inclusive: bool, body: Tree) -> None:
        self.loop(range(end + inclusive), body)

    def run_count(self, test_first: bool, body: Tree) -> None:
        self.loop(range(2), body)

    def loop(self, passes: range, body: Tree) -> None:
        for _ in passes:
            try:
                self.run(body)
            except Continued:
                continue
            except Broken:
                return

    def run_try(self, body: Tree | None, catches: tuple[tuple[str, Tree | None], ...], last: Tree | None) -> None:
        """A fault that waits for `finally` goes on after it, whatever signal stands there; Break goes before Continue."""
        pending: Failed | None = None
        signals: list[Signal] = []
        try:
            try:
                self.run(body)
            except Failed:
                handler = next((item for item in catches if item[0] in ("", "ActivityFault")), None)
                if handler is None:
                    raise
                self.run(handler[1])
        except Failed as error:
            pending = error
        except Signal as signal:
            signals.append(signal)
        try:
            self.run(last)
        except Signal as signal:
            signals.append(signal)
        if pending is not None:
            raise pending
        if signals:
            raise min(signals, key=lambda item: isinstance(item, Continued))


# -- the comparison ----------------------------------------------------------------------------------------------------


@settings(max_examples=150)
@given(trees(at_once=False))
def test_a_tree_does_what_the_program_it_reads_as_does(perform: Perform, carry: Carry, tree: Tree) -> None:
    expected = Interpreter()
    status = expected.program(tree)
    workflow = workflow_of(tree)

    async def act(runner: Runner) -> RunResult:
        result = await runner.run(workflow)
        for _ in range(200):
            if result.status is not Status.SUSPENDED:
                break
            result = await runner.resume(carry(runner, result, workflow))
        return result

    result = perform(act)
    assert result.lines == expected.lines
    assert result.status is status
    assert result.variables == expected.variables


def stepwise(engine: Holdfast, workflow: Workflow, order: list[int], *, json_between: bool) -> LiveInstance:
    """Drive an instance by hand, one activity per segment, resuming bookmarks in the given order."""
    plan, choices = engine.plan(workflow), list(order)
    live = delivery.start(plan, id="i", now=engine.clock.now_ns, services=engine.services, inputs={})
    limits = Limits(activities=1, nanoseconds=10**18, runaway=10_000)
    lines: list[str] = []
    for _ in range(3_000):
        ended = run_segment(live, limits)
        lines += live.lines
        live.lines.clear()
        if json_between:
            live = snapshot.load(
                json.loads(json.dumps(snapshot.dump(live))), plan, engine.clock.now_ns, engine.services
            )
        if ended is Ended.IDLE:
            if live.status is not Status.SUSPENDED or not live.bookmarks:
                break
            marks = sorted(live.bookmarks, key=lambda key: int(key[1:]))
            delivery.resume(live, marks[(choices.pop(0) if choices else 0) % len(marks)])
    live.lines = lines
    return live


def facts(live: LiveInstance) -> Any:
    return (
        live.status,
        live.lines,
        live.root.scope[2:],
        [item.message for item in live.incidents],
        [(entry[0], entry[1], entry[2], entry[4]) for entry in live.journal],
    )


@pytest.mark.usefixtures("stride")
@settings(max_examples=100)
@given(tree=trees(at_once=True), order=st.lists(st.integers(0, 5), max_size=12))
def test_a_trip_through_json_between_any_two_activities_changes_nothing(
    engine: Holdfast, tree: Tree, order: list[int]
) -> None:
    workflow = workflow_of(tree)

    straight = stepwise(engine, workflow, order, json_between=False)
    carried = stepwise(engine, workflow, order, json_between=True)

    assert facts(carried) == facts(straight)


@pytest.mark.usefixtures("stride")
@settings(max_examples=100)
@given(tree=trees(at_once=True), order=st.lists(st.integers(0, 5), max_size=12))
def test_a_burst_ends_and_leaves_nothing_behind(engine: Holdfast, tree: Tree, order: list[int]) -> None:
    live = stepwise(engine, workflow_of(tree), order, json_between=False)

    assert live.status in (Status.FINISHED, Status.FAULTED)
    assert not live.queue
    assert not live.leftovers
    if live.status is Status.FINISHED:
        assert live.bookmarks == {}
        assert live.effects == {}
        assert live.waiters == {}
        assert live.root.descendants() == []
        assert live.cleanup.descendants() == []


@pytest.mark.usefixtures("stride")
@settings(max_examples=100)
@given(tree=trees(at_once=True), steps=st.integers(1, 25), terminate=st.booleans())
def test_an_instance_can_be_canceled_between_any_two_activities(
    engine: Holdfast, tree: Tree, steps: int, terminate: bool
) -> None:
    live = delivery.start(
        engine.plan(workflow_of(tree)), id="i", now=engine.clock.now_ns, services=engine.services, inputs={}
    )
    limits = Limits(activities=1, nanoseconds=10**18, runaway=10_000)
    for _ in range(steps):
        run_segment(live, limits)
    if live.status is Status.FINISHED:
        return
    delivery.cancel(live, finalize=not terminate)
    status = Status.RUNNING
    for _ in range(1_000):
        ended, status = run_segment(live, limits), live.status
        if ended is Ended.IDLE:
            if status is Status.CANCELED:
                break
            delivery.resume(live, next(iter(live.bookmarks)))

    assert status is Status.CANCELED
    assert live.root.descendants() == []
    assert live.cleanup.descendants() == []
    assert live.bookmarks == {}
