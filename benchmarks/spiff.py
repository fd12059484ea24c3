"""SpiffWorkflow, a BPMN interpreter in Python, on a sequence of ten `x = x + 1`, against Holdfast.

SpiffWorkflow runs in its own process and environment and takes its turns on request, so that rounds interleave.
Neither side stores anything. Both start a new instance for each ten activities.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path

from benchmarks import holdfast_engine
from benchmarks.environments import environment
from benchmarks.figures import Effort, Figure, Group
from benchmarks.rounds import MICROSECONDS, repeated, run_rounds
from holdfast import Workflow, expr
from holdfast.activities import Sequence, SetVariable

PACKAGE = "SpiffWorkflow==3.2.0"
STEPS = 10
WORKER = Path(__file__).resolve().parent / "spiff_worker.py"

FIGURES = (
    Figure(
        "engine.spiff_ratio",
        f"SpiffWorkflow per activity over Holdfast, a sequence of {STEPS} assignments",
        150,
        at_least=True,
    ),
    Figure("engine.spiff_ratio.us_spiff", "µs for an activity of SpiffWorkflow in that sequence"),
    Figure(
        "engine.spiff_ratio.us_ours",
        "µs for an activity of Holdfast in that sequence, including the start of the instance",
    ),
)


class SpiffWorker:
    """The other process: one line of JSON requests a turn, and one line answers."""

    def __init__(self, python: Path) -> None:
        self._process = subprocess.Popen(
            [str(python), str(WORKER)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    async def turn(self) -> float:
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps({"steps": STEPS, "times": 10}) + "\n")
        process.stdin.flush()
        answer = json.loads(process.stdout.readline())
        return float(answer["seconds"])

    def close(self) -> None:
        self._process.communicate(timeout=10)


def measure(effort: Effort) -> Mapping[str, float]:
    steps = [SetVariable("x", expr("x + 1")) for _ in range(STEPS)]
    burst = holdfast_engine.bursts(holdfast_engine.engine(), Workflow(Sequence(*steps), variables={"x": 0}))
    worker = SpiffWorker(environment("spiff", PACKAGE))
    try:
        contenders = {"ours": repeated(burst, times=300, units=STEPS), "spiff": worker.turn}
        best = run_rounds(contenders, effort.rounds)
    finally:
        worker.close()
    return {
        "engine.spiff_ratio": best["spiff"] / best["ours"],
        "engine.spiff_ratio.us_spiff": best["spiff"] * MICROSECONDS,
        "engine.spiff_ratio.us_ours": best["ours"] * MICROSECONDS,
    }


GROUP = Group("spiff", FIGURES, measure)
