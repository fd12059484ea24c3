"""Random workflows with every commit strategy, stored and loaded again at each commit as a store does it.

With any strategy the result is that of the interpreter, no strategy repeats or livelocks, and a discarded segment runs again with
the same result.
"""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings, strategies as st

from holdfast import Holdfast, Status, Workflow
from holdfast.activities import Sequence, WriteLine
from holdfast.execution import delivery, snapshot
from holdfast.execution.live import LiveInstance
from holdfast.execution.segment import Ended, Limits, run_segment
from tests.simulation.test_random_trees import Interpreter, Tree, build, trees
from tests.support.strategy_shapes import ALL

LIMITS = Limits(nanoseconds=10**18, runaway=10_000)


def flow(tree: Tree, strategy: str | None, own: str | None) -> Workflow:
    built = build(tree)
    assert built is not None
    root = Sequence(built, WriteLine("end", commit=own))
    return Workflow(root, id="tree", variables={"x": 1, "y": 2}, commit=strategy)


def stored(engine: Holdfast, live: LiveInstance) -> LiveInstance:
    """The instance as the next burst reads it: its journal is in other rows."""
    document = json.loads(json.dumps(snapshot.dump(live, journal=False)))
    return snapshot.load(document, live.plan, engine.clock.now_ns, engine.services)


def run(engine: Holdfast, workflow: Workflow, *, twice: bool) -> tuple[LiveInstance, list[str]]:
    """`twice`: every segment is discarded once, as after a crash before its commit, and runs again."""
    plan = engine.plan(workflow)
    live = delivery.start(plan, id="i", now=engine.clock.now_ns, services=engine.services, inputs={})
    lines: list[str] = []
    for _ in range(2_000):
        if twice and live.committed_entries == 0 and not live.journal:
            run_segment(stored(engine, live), LIMITS)
        ended, written = run_segment(live, LIMITS), live.lines
        lines += written
        live.lines = []
        live = stored(engine, live)
        if ended is Ended.IDLE:
            if live.status is not Status.SUSPENDED:
                return live, lines
            delivery.resume(live, next(iter(live.bookmarks)))
    raise AssertionError(f"{workflow.definition.options.commit} does not end")


@settings(max_examples=150)
@given(
    tree=trees(at_once=False),
    strategy=st.sampled_from([None, *ALL]),
    own=st.sampled_from([None, "always", "never", "executing", "executed"]),
    twice=st.booleans(),
)
def test_every_strategy_gives_the_result_of_the_program(
    engine: Holdfast, tree: Tree, strategy: str | None, own: str | None, twice: bool
) -> None:
    expected = Interpreter()
    status = expected.program(tree)

    live, lines = run(engine, flow(tree, strategy, own), twice=twice)

    assert lines == expected.lines
    assert live.status is status
    assert _variables(live) == expected.variables


def _variables(live: LiveInstance) -> dict[str, Any]:
    shape = live.plan.root.shape
    assert shape is not None
    return {name: live.root.scope[index] for name, index in shape.names.items()}
