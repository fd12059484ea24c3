"""A process of a CPU activity that is killed costs its effect one attempt, on every store."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path
from typing import Any

import pytest

from holdfast import Status, Workflow
from holdfast.activities import Parallel, Sequence
from holdfast.management.instances.operators import Operators
from holdfast.model.instance import LOST, JournalEvent

CODE = """
import os, time
from pathlib import Path
from holdfast import OnLost, activity

def wait(mark: str) -> int:
    first = not Path(mark).exists()
    Path(mark + ".part").write_text(str(os.getpid()))
    os.rename(mark + ".part", mark)
    while first and not Path(mark + ".go").exists():
        time.sleep(0.01)
    return os.getpid()

@activity(cpu=True)
def heavy(mark: str) -> int:
    return wait(mark)

@activity(cpu=True, on_lost=OnLost.HOLD)
def held(mark: str) -> int:
    return wait(mark)
"""


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    (tmp_path / "killed_work_for_tests.py").write_text(CODE)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "killed_work_for_tests", raising=False)
    import killed_work_for_tests  # type: ignore[import-not-found]  # written just now

    return killed_work_for_tests


def kill_child(mark: Path) -> None:
    """Kill the process that wrote the mark, once it has."""
    while not mark.exists():
        os.sched_yield()
    os.kill(int(mark.read_text()), signal.SIGKILL)


async def test_only_the_effect_of_the_killed_process_has_another_attempt(
    cluster: Any, work: Any, tmp_path: Path
) -> None:
    killed, beside = tmp_path / "killed", tmp_path / "beside"
    a = await cluster.node("a", activities=[work.heavy], processes_max=2)
    flow = Workflow(Parallel(work.heavy.bind(str(killed)), work.heavy.bind(str(beside))), id="two")
    identity = (await a.start(flow)).result.instance_id
    await asyncio.to_thread(kill_child, killed)
    (tmp_path / "beside.go").touch()

    assert (await a.wait_at_rest(identity)).status is Status.FINISHED
    recorded = [entry for entry in await a.journal(identity) if entry.event is JournalEvent.EFFECT_RECORDED]
    assert sorted((entry.activity_id, entry.data["attempt"]) for entry in recorded) == [
        ("heavy1", 1),
        ("heavy1", 2),
        ("heavy2", 1),
    ]
    await cluster.check(a, identity)


async def test_a_held_effect_whose_process_was_killed_waits_for_an_operator(
    cluster: Any, work: Any, tmp_path: Path
) -> None:
    mark = tmp_path / "mark"
    a = await cluster.node("a", activities=[work.held], processes_max=1)
    identity = (await a.start(Workflow(Sequence(work.held.bind(str(mark))), id="held"))).result.instance_id
    await asyncio.to_thread(kill_child, mark)
    await a.settle(identity)
    assert [item.type for item in (await a.read(identity)).incidents] == [LOST]

    assert await Operators(a).recover(identity, who="ann") == 1

    assert (await a.wait_at_rest(identity)).status is Status.FINISHED
