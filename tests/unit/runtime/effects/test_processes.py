"""Processes for CPU work: a process that dies costs only its own call, and canceled calls end."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Iterator
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

import pytest

from holdfast import Holdfast, Status, Workflow
from holdfast.activities import Parallel, Sequence
from holdfast.errors import ProcessDied
from holdfast.runtime.effects.processes import Processes

CODE = """
import os, signal, time
from pathlib import Path
from holdfast import OnLost, activity

def pid() -> int:
    return os.getpid()

def end(how: str) -> None:
    if how == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    elif how == "abort":
        os.abort()
    os._exit(3)

def wait(begun: str, until: str) -> int:
    Path(begun).write_text(str(os.getpid()))
    while not Path(until).exists():
        time.sleep(0.01)
    return os.getpid()

def end_at_first(mark: str) -> str:
    if not Path(mark).exists():
        Path(mark).write_text("")
        os.abort()
    return "done"

@activity(cpu=True)
def fragile(mark: str) -> str:
    return end_at_first(mark)

@activity(cpu=True)
def deadly(mark: str) -> str:
    with open(mark, "a") as file:
        file.write("x")
    os.abort()

@activity(cpu=True, on_lost=OnLost.FAIL)
def failing(mark: str) -> str:
    return deadly.function(mark)

@activity(cpu=True)
def innocent() -> int:
    return os.getpid()
"""


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    (tmp_path / "deadly_work_for_tests.py").write_text(CODE)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "deadly_work_for_tests", raising=False)
    import deadly_work_for_tests  # type: ignore[import-not-found]  # written just now

    return deadly_work_for_tests


@pytest.fixture
def processes() -> Iterator[Processes]:
    made = Processes(2)
    yield made
    made.close()


@pytest.mark.parametrize("how", ["kill", "abort", "exit"])
async def test_a_process_that_dies_fails_its_call_and_no_other(
    processes: Processes, work: Any, how: str, tmp_path: Path
) -> None:
    begun, until = tmp_path / "begun", tmp_path / "until"
    beside = asyncio.ensure_future(processes.run(work.wait, {"begun": str(begun), "until": str(until)}))

    with pytest.raises(ProcessDied, match="deadly_work_for_tests:end"):
        await processes.run(work.end, {"how": how})
    until.write_text("")

    assert await beside != os.getpid()
    pids = await asyncio.gather(*(processes.run(work.pid, {}) for _ in range(4)))
    assert len(set(pids)) <= 2


async def test_a_process_that_died_while_it_was_idle_costs_nothing(processes: Processes, work: Any) -> None:
    first = await processes.run(work.pid, {})
    (idle,) = processes._idle
    child = (idle._processes or {})[first]
    os.kill(first, signal.SIGKILL)
    await asyncio.to_thread(child.join)

    assert await processes.run(work.pid, {}) != first


async def test_a_process_whose_executor_is_broken_costs_neither_a_call_nor_a_place(work: Any) -> None:
    processes = Processes(1)
    first = await processes.run(work.pid, {})
    (idle,) = processes._idle
    broken = idle.submit(os._exit, 1)
    with pytest.raises(BrokenProcessPool):
        await asyncio.wrap_future(broken)

    for _ in range(2):
        assert await processes.run(work.pid, {}) != first
    processes.close()


async def test_a_canceled_call_ends_with_its_process(work: Any, tmp_path: Path) -> None:
    processes = Processes(1)
    call = asyncio.ensure_future(
        processes.run(work.wait, {"begun": str(tmp_path / "begun"), "until": str(tmp_path / "never")})
    )
    waiting = asyncio.ensure_future(processes.run(work.pid, {}))
    gone = asyncio.ensure_future(processes.run(work.pid, {}))
    await asyncio.sleep(0)

    gone.cancel()
    call.cancel()

    assert await waiting > 0
    assert call.cancelled()
    processes.close()


async def test_an_effect_whose_process_died_runs_again_with_the_same_key(work: Any, tmp_path: Path) -> None:
    engine = Holdfast(entry_points=False, processes_max=2)
    root = Parallel(work.fragile.bind(str(tmp_path / "mark"), result="found"), work.innocent.bind())

    result = await engine.runner.run(Workflow(root, variables={"found": None}))

    assert (result.status, result.variables["found"]) == (Status.FINISHED, "done")
    engine.close()


async def test_an_effect_that_ends_every_process_fails_and_the_next_one_works(work: Any, tmp_path: Path) -> None:
    engine, mark = Holdfast(entry_points=False, processes_max=1), tmp_path / "mark"

    result = await engine.runner.run(Sequence(work.deadly.bind(str(mark))))

    assert (result.status, result.incidents[0].type) == (Status.FAULTED, "ProcessDied")
    assert mark.read_text() == "xxx"
    assert (await engine.runner.run(Sequence(work.innocent.bind()))).status is Status.FINISHED
    engine.close()


async def test_on_lost_fail_does_not_run_it_again(work: Any, tmp_path: Path) -> None:
    engine, mark = Holdfast(entry_points=False, processes_max=1), tmp_path / "mark"

    result = await engine.runner.run(Sequence(work.failing.bind(str(mark))))

    assert result.status is Status.FAULTED
    assert mark.read_text() == "x"
    engine.close()
