"""Random flowcharts with decisions, joins, loops and events, resumed in random order."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st
from msgspec import Struct

from holdfast import Activity, Holdfast, Runner, RunResult, Status, Workflow, expr
from holdfast.activities import (
    Event,
    Flowchart,
    FlowDecision,
    FlowFork,
    FlowJoin,
    FlowSwitch,
    Sequence,
    SetVariable,
    WriteLine,
)
from holdfast.api import MergeMode
from holdfast.execution import delivery, snapshot
from holdfast.execution.live import LiveInstance
from holdfast.execution.segment import Ended, Limits, run_segment

Carry = Callable[[Runner, RunResult, Any], RunResult]
Perform = Callable[[Any], Any]

KINDS = ("line", "line", "event", "decision", "switch", "fork", "wait_all", "wait_all_active", "wait_any", "nested")
OUTCOMES = {"decision": ("True", "False"), "switch": ("even", "small", "Default"), "fork": ("1", "2")}
PASSES = 3


class Chart(Struct, frozen=True):
    """Activities in an order; forward edges lead to later ones. `loop` = (from, to): while passes are left, go back."""

    kinds: tuple[str, ...]
    edges: tuple[tuple[int, int, int], ...]
    loop: tuple[int, int] | None
    merges: tuple[MergeMode | None, ...]


@st.composite
def charts(draw: st.DrawFn) -> Chart:
    size = draw(st.integers(1, 9))
    kinds = tuple(draw(st.sampled_from(KINDS)) for _ in range(size))
    edges: list[tuple[int, int, int]] = []
    for target in range(1, size):
        sources = draw(st.lists(st.integers(0, target - 1), min_size=1, max_size=3, unique=True))
        edges.extend((source, target, draw(st.integers(0, 2))) for source in sources)
    loop = draw(st.none() | st.tuples(st.integers(0, size - 1), st.integers(0, size - 1)))
    merges = tuple(draw(st.none() | st.sampled_from(MergeMode)) for _ in range(size))
    return Chart(kinds, tuple(edges), loop, merges)


def activity_of(kind: str, number: int, merge: MergeMode | None) -> Activity:
    given: dict[str, Any] = {"id": f"n{number}", **({"merge": merge} if merge else {})}
    if kind == "event":
        return Event(f"e{number}", **given)
    if kind == "decision":
        return FlowDecision(expr("n % 2 == 0"), **given)
    if kind == "switch":
        cases = [{"label": "even", "condition": expr("n % 2 == 0")}, {"label": "small", "condition": expr("n < 2")}]
        return FlowSwitch(cases, mode="match_any", **given)
    if kind == "fork":
        return FlowFork(["1", "2"], **given)
    if kind.startswith("wait"):
        return FlowJoin(kind, **given)
    if kind == "nested":
        return Sequence(WriteLine(f"n{number} in"), Event(f"nested {number}"), WriteLine(f"n{number} out"), **given)
    return WriteLine(f"n{number}", **given)


def workflow_of(chart: Chart) -> Workflow:
    nodes = [activity_of(kind, number, chart.merges[number]) for number, kind in enumerate(chart.kinds)]
    links = []
    for source, target, way in chart.edges:
        outcomes = OUTCOMES.get(chart.kinds[source])
        links.append(
            nodes[source].on(outcomes[way % len(outcomes)]) >> nodes[target]
            if outcomes
            else nodes[source] >> nodes[target]
        )
    if chart.loop is not None:
        # A loop that ends: count, decide, go back.
        source, target = max(chart.loop), min(chart.loop)
        count, again = SetVariable("n", expr("n + 1"), id="count"), FlowDecision(expr(f"n < {PASSES}"), id="again")
        outcomes = OUTCOMES.get(chart.kinds[source])
        links.append(nodes[source].on(outcomes[0]) >> count if outcomes else nodes[source] >> count)
        links += [count >> again, again.on("True") >> nodes[target]]
    return Workflow(Flowchart(*nodes, connections=links, start="n0", id="chart"), id="random", variables={"n": 0})


def finish(
    engine: Holdfast, workflow: Workflow, order: list[int], mode: str, *, json_between: bool = False
) -> tuple[LiveInstance, list[str]]:
    """Drive it to its end in the smallest segments; every state that can be seen is looked at."""
    plan, choices, lines = engine.plan(workflow), list(order), []
    live = delivery.start(
        plan, id="i", now=engine.clock.now_ns, services=engine.services, inputs={}, flowchart_mode=mode
    )
    limits = Limits(activities=1, nanoseconds=10**18, runaway=5_000)
    for _ in range(6_000):
        ended = run_segment(live, limits)
        lines += live.lines
        live.lines.clear()
        if json_between:
            live = snapshot.load(
                json.loads(json.dumps(snapshot.dump(live))), plan, engine.clock.now_ns, engine.services
            )
        if ended is Ended.IDLE:
            if live.status is not Status.SUSPENDED or not live.bookmarks:
                return live, lines
            marks = sorted(live.bookmarks, key=lambda key: int(key[1:]))
            delivery.resume(live, marks[(choices.pop(0) if choices else 0) % len(marks)])
    raise AssertionError("it neither ended nor waited")


ORDERS = st.lists(st.integers(0, 5), max_size=10)
MODES = st.sampled_from(["counter", "token"])


@pytest.mark.usefixtures("stride")
@settings(max_examples=100)
@given(chart=charts(), order=ORDERS, mode=MODES)
def test_a_chart_ends_or_tells_why_it_cannot(engine: Holdfast, chart: Chart, order: list[int], mode: str) -> None:
    live, _ = finish(engine, workflow_of(chart), order, mode)

    if live.status is Status.FINISHED:
        assert live.incidents == []
        assert (live.bookmarks, live.waiters, live.effects) == ({}, {}, {})
        assert live.root.descendants() == []
    else:
        kinds = {item.type for item in live.incidents}
        assert kinds
        if live.status is Status.SUSPENDED:
            # Only a merge that waits for a token can starve; counter mode follows dead paths to every join.
            assert mode == "token"
            assert kinds == {"stuck"}
            assert "waits for" in live.incidents[0].message
        else:
            # What a chart can do wrong: an invalid way back, or a loop that starts itself without end.
            assert all(
                "Invalid backward connection" in item.message or item.type == "runaway" for item in live.incidents
            )


@pytest.mark.usefixtures("stride")
@settings(max_examples=60)
@given(chart=charts(), order=ORDERS, mode=MODES)
def test_json_between_any_two_activities_changes_nothing(
    engine: Holdfast, chart: Chart, order: list[int], mode: str
) -> None:
    workflow = workflow_of(chart)
    straight, lines = finish(engine, workflow, order, mode)
    carried, carried_lines = finish(engine, workflow, order, mode, json_between=True)

    assert carried_lines == lines
    assert carried.status is straight.status
    assert carried.root.scope[2:] == straight.root.scope[2:]
    assert [entry[:3] for entry in carried.journal] == [entry[:3] for entry in straight.journal]


@settings(max_examples=40)
@given(chart=charts(), order=ORDERS, mode=MODES)
def test_the_runner_and_the_smallest_segments_agree(
    engine: Holdfast, perform: Perform, carry: Carry, chart: Chart, order: list[int], mode: str
) -> None:
    workflow = workflow_of(chart)
    live, lines = finish(engine, workflow, order, mode)

    async def act(runner: Runner) -> RunResult:
        choices = list(order)
        result = await runner.run(workflow, flowchart_mode=mode)
        for _ in range(100):
            if not result.bookmarks:
                break
            marks = result.bookmarks
            result = await runner.resume(
                carry(runner, result, workflow), marks[(choices.pop(0) if choices else 0) % len(marks)]
            )
        return result

    if any(item.type == "runaway" for item in live.incidents):
        return
    result = perform(act)
    assert result.status is live.status
    assert result.lines == lines


@settings(max_examples=100)
@given(chart=charts(), order=ORDERS)
def test_without_a_loop_every_activity_runs_at_most_once(engine: Holdfast, chart: Chart, order: list[int]) -> None:
    """Also behind joins: WaitAny fires once, whoever comes late."""
    acyclic = Chart(chart.kinds, chart.edges, None, chart.merges)
    live, lines = finish(engine, workflow_of(acyclic), order, "counter")

    assert live.status is Status.FINISHED
    assert not [line for line, times in Counter(lines).items() if times > 1]
