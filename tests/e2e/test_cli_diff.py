"""`holdfast diff`: what changed since the stored version, and which live instances that concerns."""

from __future__ import annotations

import json
from pathlib import Path

from tests.support.python_process import Holdfast

STORE = ("--store", "sqlite:///kept.db")

ONE = """
from holdfast import activity, wait_for, workflow


@activity
async def charge(order: str) -> str:
    return order


@workflow
async def fulfil(order: str) -> str:
    await wait_for("approval")
    return await charge(order)
"""
COMMENTED = ONE.replace("    await wait_for", "    # The boss says yes.\n\n    await wait_for")
TWO = ONE.replace('"approval"', '"signature"').replace(
    "    return await charge(order)", '    await charge("fee")\n    return await charge(order)'
)


def write(folder: Path, text: str) -> None:
    (folder / "orders.py").write_text(text, encoding="utf-8")


def test_the_code_against_the_store(holdfast: Holdfast, folder: Path) -> None:
    write(folder, ONE)
    holdfast("migrate", *STORE)
    unknown = holdfast("diff", "orders:fulfil", *STORE)
    started = holdfast("run", "orders:fulfil", "--input", '{"order": "7"}', *STORE)
    assert started.returncode == 0, started.stderr
    identity = next(line.split()[1] for line in started.stderr.splitlines() if line.startswith("instance "))
    same = holdfast("diff", "orders:fulfil", *STORE)
    write(folder, COMMENTED)
    commented = holdfast("diff", "orders:fulfil", *STORE)
    write(folder, TWO)
    changed = holdfast("diff", "orders:fulfil", *STORE)
    data = json.loads(holdfast("diff", "orders:fulfil", *STORE, "--json").stdout)

    assert unknown.stdout == "fulfil: not in the store yet\n"
    assert same.stdout == commented.stdout
    assert same.stdout == "fulfil: version 1 → the code\n  no change that affects execution\n"
    assert "~ wait_for (WaitFor)" in changed.stdout
    assert '    inputs.event_name: "approval" → "signature"' in changed.stdout
    assert "+ charge2 (charge)" in changed.stdout
    assert "1 live instances keep the version that they started with:" in changed.stdout
    assert f"  {identity}  version 1  suspended, waits at wait_for (changed)" in changed.stdout
    assert [item["id"] for item in data["instances"]] == [identity]
    assert {item["change"] for item in data["changes"]["activities"]} >= {"added", "changed"}


def test_two_files(holdfast: Holdfast, folder: Path) -> None:
    document = json.loads((folder / "approval.json").read_text(encoding="utf-8"))
    document["root"]["activities"][0].setdefault("options", {})["timeout"] = "PT5S"
    (folder / "other.json").write_text(json.dumps(document), encoding="utf-8")

    told = holdfast("diff", "approval.json", "other.json")

    assert told.returncode == 0, told.stderr
    assert 'options.timeout: nothing → "PT5S"' in told.stdout


CLASSES = """
from dataclasses import dataclass

from holdfast import activity, wait_for, workflow


@dataclass
class Order:
    name: str


@activity
async def load(name: str) -> Order:
    return Order(name)


@activity
async def charge(name: str) -> str:
    return name


@workflow
async def fulfil(name: str) -> str:
    order = await load(name)
    await wait_for("approval")
    return await charge(order.name)
"""
FIELD = CLASSES.replace("    name: str\n\n", "    name: str\n    amount: int\n\n").replace(
    "Order(name)", "Order(name, 1)"
)
RENAMED = CLASSES.replace("charge(", "collect(")


def test_instances_that_the_code_cannot_continue_are_named(holdfast: Holdfast, folder: Path) -> None:
    write(folder, CLASSES)
    holdfast("migrate", *STORE)
    started = holdfast("run", "orders:fulfil", "--input", '{"name": "7"}', *STORE)
    assert started.returncode == 0, started.stderr
    identity = next(line.split()[1] for line in started.stderr.splitlines() if line.startswith("instance "))
    same = holdfast("diff", "orders:fulfil", *STORE)
    write(folder, FIELD)
    field = holdfast("diff", "orders:fulfil", *STORE)
    write(folder, RENAMED)
    renamed = holdfast("diff", "orders:fulfil", *STORE)
    data = json.loads(holdfast("diff", "orders:fulfil", *STORE, "--json").stdout)

    assert "cannot continue" not in same.stdout
    assert (same.returncode, field.returncode, renamed.returncode) == (0, 1, 1)
    assert "  the workflow itself has not changed" in field.stdout
    assert "! 1 live instance cannot continue with this code:" in field.stdout
    for part in (identity, "variable 'order'", "class 'orders:Order'", "field 'amount'"):
        assert part in field.stdout
    assert "! 1 live instance cannot continue with this code:" in renamed.stdout
    assert "unknown type 'charge'" in renamed.stdout
    assert [(item["id"], "aliases" in item["reason"]) for item in data["stopped"]] == [(identity, True)]
