"""Types survive: a checker sees the results of activities, workflows and words, and refuses wrong calls."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import holdfast
from holdfast import activities, api, dispatch, testing

WELL = """\
from dataclasses import dataclass
from datetime import timedelta
from holdfast import Holdfast, activity, Retry
from holdfast import ask, first, gather, parallel, poll, run_child, sleep, wait_for, workflow
from holdfast.testing import Harness

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

async def embedded(app: Holdfast) -> str:
    instance = await app.start(sub, 1)
    other = await app.start(good.options(correlation_id="7"), order="7")
    async with Harness(good) as flow:
        flow.stub(charge, returns=1.5, times=2)
        await flow.start("7")
        return await instance.result() + str(await other.result() + await flow.result())
"""

BADLY = """\
from typed_well import Approval, charge, fetch, good, sub
from holdfast import Holdfast, gather, run_child, sleep, wait_for
from holdfast import no_such_name  # E
from holdfast.activities import NoSuchName  # E
from holdfast.testing import Harness

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
    (await wait_for(Approval, default=3)).approved  # E
    answer: Approval = await wait_for(Approval, default=3)  # E
    await wait_for(Approval, where=lambda event: event.nope)  # E
    await wait_for(Approval, timeout=3)  # E

async def embedding(app: Holdfast) -> None:
    await app.start(good, 7)  # E
    await app.start(good)  # E
    await app.start(good.options(corelation_id="7"), "7")  # E
    instance = await app.start(sub, 1)
    (await instance.result()) + 1  # E
    await instance.nope()  # E
    async with Harness(good) as flow:
        await flow.start(7)  # E
        flow.stub(charge, returns="much")  # E
        (await flow.result()).upper()  # E
"""


NAMES = "".join(
    f"from {module.__name__} import {name}\n"
    for module in (holdfast, activities, api, dispatch, testing)
    for name in dir(module)
)
"""Every name of the modules that load their names lazily: a checker must find them all."""

WRONG = [number for number, line in enumerate(BADLY.splitlines(), 1) if line.endswith("# E")]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "typed_well.py").write_text(WELL, encoding="utf-8")
    (tmp_path / "typed_names.py").write_text(NAMES, encoding="utf-8")
    (tmp_path / "typed_badly.py").write_text(BADLY, encoding="utf-8")
    return tmp_path


def checked(folder: Path, *command: str) -> str:
    run = subprocess.run(
        [sys.executable, "-m", *command, "typed_well.py", "typed_names.py", "typed_badly.py"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    return run.stdout + run.stderr


@pytest.mark.slow
def test_mypy_sees_the_types_and_the_mistakes(folder: Path) -> None:
    told = checked(folder, "mypy", "--strict", "--cache-dir", ".cache")

    found = re.findall(r"^(\w+)\.py:(\d+): error", told, re.MULTILINE)
    assert list(dict.fromkeys(found)) == [("typed_badly", str(number)) for number in WRONG], told


@pytest.mark.slow
def test_pyright_sees_them_too(folder: Path) -> None:
    (folder / "pyrightconfig.json").write_text('{"reportUnusedExpression": false}', encoding="utf-8")
    told = checked(folder, "pyright", "--pythonpath", sys.executable)
    if "error:" not in told:
        pytest.skip(f"pyright does not run here: {told.splitlines()[-1] if told else 'it says nothing'}")

    found = re.findall(r"(\w+)\.py:(\d+):\d+ - error", told)
    assert list(dict.fromkeys(found)) == [("typed_badly", str(number)) for number in WRONG], told
