"""Time of a fresh interpreter to import Holdfast, and to create an engine."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping

from benchmarks.figures import Effort, Figure, Group

PROGRAMS = {
    "engine.import_ms": "import holdfast",
    "engine.ready_ms": "from holdfast import Holdfast; Holdfast(entry_points=False)",
}
FRESH_INTERPRETERS = 5

FIGURES = (
    Figure("engine.import_ms", f"ms for `import holdfast` in a fresh interpreter, best of {FRESH_INTERPRETERS}", 150),
    Figure("engine.ready_ms", "ms for `from holdfast import Holdfast; Holdfast()`, which loads the engine"),
)


def measure(effort: Effort) -> Mapping[str, float]:
    times: dict[str, list[float]] = {name: [] for name in PROGRAMS}
    for _ in range(FRESH_INTERPRETERS):
        for name, program in PROGRAMS.items():
            times[name].append(_milliseconds(program))
    return {name: min(found) for name, found in times.items()}


def _milliseconds(program: str) -> float:
    timed = f"from time import perf_counter as now; begin = now()\n{program}\nprint((now() - begin) * 1000)"
    done = subprocess.run([sys.executable, "-c", timed], capture_output=True, text=True, check=True)
    return float(done.stdout)


GROUP = Group("imports", FIGURES, measure)
