"""Types survive: a checker sees the results of activities, workflows and words, and refuses wrong calls."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

WELL = """\
from dataclasses import dataclass
from datetime import timedelta
from holdfast import activity, Retry
from holdfast.authoring.compiled import workflow
from holdfast.authoring.words import ask, first, gather, parallel, poll, run_child, sleep, wait_for

@dataclass
class Approval:
    approved: bool

@activity
async def charge(order: str, amount: int) -> float:
    return 1.0

@activity
async def fetch(order: str) -> list[str]:
    return []

@workflow
async def sub(x: int) -> str:
    return str(x)

@workflow(version=2)
async def good(order: str) -> float:
    lines = await fetch(order)
    answer = await wait_for(Approval, key=order, timeout=timedelta(days=1), default=Approval(False))
    total, names = await gather(charge(order, 1), fetch(order))
    all_of = await gather(*[charge(x, 1) for x in lines])
    got = await first(charge(order, 2), charge(order, 3))
    async with parallel(limit=2) as branches:
        branches.start(charge(order, 1))
    name: str = await run_child(sub, 1)
    name = await sub(3)
    filled = await ask("me", form=Approval)
    more = await charge.options(retry=Retry(attempts=2))(order, 3)
    polled = await poll(charge(order, 1), until=lambda x: x > 1.0, every=timedelta(1))
    await sleep(timedelta(1))
    if answer.approved and filled.approved:
        return total + sum(all_of) + got + more + polled + len(names[0].upper()) + len(name)
    return 0.0
"""

BADLY = """\
from typed_well import Approval, charge, fetch, good, sub
from holdfast.authoring.words import gather, run_child, sleep, wait_for

async def mistakes() -> None:
    await charge("x")  # E
    await charge("x", "y")  # E
    await charge("x", 1, 2)  # E
    text: str = await charge("x", 1)  # E
    (await wait_for(Approval)).nope  # E
    await sleep(5)  # E
    await run_child(sub, "x")  # E
    a, b = await gather(charge("x", 1), fetch("y"))
    b.lower()  # E
    await good(7)  # E
    number: int = await sub(1)  # E
"""


def test_the_checker_sees_the_types_and_the_mistakes(tmp_path: Path) -> None:
    (tmp_path / "typed_well.py").write_text(WELL, encoding="utf-8")
    (tmp_path / "typed_badly.py").write_text(BADLY, encoding="utf-8")

    run = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--cache-dir", ".cache", "typed_well.py", "typed_badly.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )

    found = re.findall(r"^(\w+)\.py:(\d+): error", run.stdout, re.MULTILINE)
    wrong = [number for number, line in enumerate(BADLY.splitlines(), 1) if line.endswith("# E")]
    assert found == [("typed_badly", str(number)) for number in wrong], run.stdout + run.stderr
