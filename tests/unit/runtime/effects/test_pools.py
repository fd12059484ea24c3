"""Pools of threads and processes: they outlive an event loop, and CPU work runs in another process."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from holdfast import Holdfast, Status, Workflow, activity, expr
from holdfast.activities import Parallel, Sequence, Try, WriteLine

Make = Callable[..., Holdfast]


def test_an_engine_outlives_an_event_loop(make_engine: Make) -> None:
    runner = make_engine(threads_max=1).runner

    @activity
    def act() -> None: ...

    root = Parallel(*(act.bind() for _ in range(4)))
    for _ in range(2):
        assert asyncio.run(runner.run(root)).status is Status.FINISHED


async def test_cpu_work_runs_in_another_process(
    make_engine: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "heavy_work_for_tests.py").write_text(
        "import os\n"
        "from holdfast import activity\n"
        "@activity(cpu=True)\n"
        "def heavy(n: int) -> list[int]:\n"
        "    return [os.getpid(), n * n]\n"
        "@activity(cpu=True)\n"
        "def broken(n: int) -> int:\n"
        "    raise ValueError(f'no {n}')\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "heavy_work_for_tests", raising=False)
    import heavy_work_for_tests as work  # type: ignore[import-not-found]  # written just now

    root = Sequence(
        work.heavy.bind(12, result="found"),
        Try(
            body=work.broken.bind(3),
            catches=[{"errors": ["ValueError"], "activity": WriteLine(expr("Error['message']"))}],
        ),
    )
    result = await make_engine(processes_max=1).runner.run(Workflow(root, variables={"found": None}))

    import os

    assert result.variables["found"][1] == 144
    assert result.variables["found"][0] != os.getpid()
    assert result.lines == ["no 3"]
