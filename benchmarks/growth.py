"""Growth of a long loop: the time of the last tenth of ForEach over the first tenth.

The times are read from the journal. Garbage collection stays on: its growing share would be part of the result.
"""

from __future__ import annotations

import gc
from collections.abc import Mapping

from benchmarks import holdfast_engine
from benchmarks.figures import Effort, Figure, Group
from holdfast import Workflow, expr
from holdfast.activities import ForEach, SetVariable
from holdfast.execution.live import LiveInstance
from holdfast.model.instance import JournalEvent

ITEMS = 100_000

FIGURES = (Figure("engine.foreach_growth", f"ForEach over {ITEMS:,} items: last tenth over first tenth", 1.5),)


def measure(effort: Effort) -> Mapping[str, float]:
    body = SetVariable("total", expr("total + CurrentValue"))
    workflow = Workflow(ForEach(expr("numbers"), body), variables={"numbers": list(range(ITEMS)), "total": 0})
    burst = holdfast_engine.bursts(holdfast_engine.engine(), workflow)
    first, last = [], []
    for _ in range(max(3, effort.rounds // 3)):
        gc.collect()
        times = _times_of_the_body(burst())
        tenth = len(times) // 10
        first.append(times[tenth] - times[0])
        last.append(times[-1] - times[-1 - tenth])
    return {"engine.foreach_growth": min(last) / min(first)}


def _times_of_the_body(live: LiveInstance) -> list[int]:
    body = next(node.index for node in live.plan.nodes if node.definition.type == "SetVariable")
    times = [at for event, index, _, at, _ in live.journal if index == body and event == JournalEvent.COMPLETED]
    assert len(times) == ITEMS
    return times


GROUP = Group("growth", FIGURES, measure)
