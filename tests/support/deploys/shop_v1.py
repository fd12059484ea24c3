"""The good deployment: one workflow for each kind of wait. Each writes a line when it goes on."""

from __future__ import annotations

import asyncio
import os
from dataclasses import dataclass
from datetime import timedelta
from enum import Enum
from pathlib import Path

from holdfast import Workflow, activity, run_child, sleep, wait_for, workflow
from holdfast.activities import Sequence, Timer

LETTERS = 8


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


@dataclass
class Item:
    name: str
    colour: Colour = Colour.RED


def note(line: str) -> None:
    with Path(os.environ["DEPLOY_LEDGER"]).open("a", encoding="utf-8") as ledger:
        ledger.write(f"{line}\n")


def label(item: Item) -> str:
    return f"{item.name} ({item.colour.value})"


@activity
async def pick(name: str) -> Item:
    return Item(name)


@activity
async def pack(text: str, how: str) -> str:
    note(f"{how} {text}")
    return text


@activity
async def ship(name: str) -> str:
    """Is in flight until the gate is open."""
    while True:
        if Path(os.environ["DEPLOY_GATE"]).exists():
            return name
        await asyncio.sleep(0.05)


@activity(queue="default")
async def carry(name: str) -> str:
    return await ship(name)


@activity
async def count_stock() -> str:
    note("stock counted")
    return "counted"


@workflow
async def by_event(name: str) -> str:
    item = await pick(name)
    await wait_for("go", key=name)
    return await pack(label(item), "event")


@workflow
async def by_timer(name: str) -> str:
    item = await pick(name)
    await sleep(timedelta(seconds=float(os.environ["DEPLOY_DELAY"])))
    return await pack(label(item), "timer")


@workflow
async def by_effect(name: str) -> str:
    item = await pick(name)
    await ship(name)
    return await pack(label(item), "effect")


@workflow
async def by_step(name: str) -> str:
    item = await pick(name)
    await carry(name)
    return await pack(label(item), "step")


@workflow
async def helper(name: str) -> Item:
    item = await pick(name)
    await wait_for("go", key=f"{name}-child")
    await pack(label(item), "child")
    return item


@workflow
async def by_child(name: str) -> str:
    item = await pick(name)
    await run_child(helper, name)
    return await pack(label(item), "parent")


@workflow
async def by_letter(name: str) -> str:
    """Reads events that are sent to the instance."""
    item = await pick(name)
    number = 0
    while number < LETTERS:
        number += 1
        letter = await wait_for("letter")
        await pack(label(item), letter)
    return name


@workflow
async def by_keyed_letter(name: str) -> str:
    """Reads events that are sent to a key, under two names."""
    item = await pick(name)
    number = 0
    while number < LETTERS:
        number += 2
        letter = await wait_for("letter", key=name)
        await pack(label(item), letter)
        card = await wait_for("card", key=name)
        await pack(label(item), card)
    return name


@workflow
async def by_start(name: str) -> str:
    item = await pick(name)
    return await pack(label(item), "start")


stock = Workflow(
    Sequence(
        Timer(timedelta(seconds=float(os.environ["DEPLOY_EVERY"])), id="tick", can_start=True), count_stock.bind()
    ),
    id="stock",
)
