"""Classes that changed while an instance waits: its work is parked, nothing faults, and it goes on with code that reads it."""

from __future__ import annotations

import importlib
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from holdfast import Holdfast, Status
from holdfast.errors import CodeMissing, StateUnreadable
from holdfast.management.doctor import check_store
from holdfast.management.runtime import ManagedRuntime
from holdfast.model.stored import InstanceKey
from holdfast.persistence.memory import MemoryStore
from holdfast.testing import VirtualClock
from tests.support.node import node_of

GOOD = """
from dataclasses import dataclass

from holdfast import wait_for, workflow


@dataclass
class Item:
    name: str


@workflow
async def small(name: str) -> str:
    item = Item(name)
    await wait_for("go")
    return item.name


@workflow
async def large(name: str) -> str:
    items = [Item(name * 100) for _ in range(200)]
    count = 0
    for item in items:
        if count == 0:
            await wait_for("go")
        count += len(item.name)
    return str(count)
"""
REQUIRED = GOOD.replace("    name: str\n\n", "    name: str\n    size: int\n\n").replace(
    "Item(name", "Item(size=1, name=name"
)
RENAMED = GOOD.replace("Item", "Article")
PYDANTIC = (
    GOOD.replace("from dataclasses import dataclass", "from pydantic import BaseModel")
    .replace("@dataclass\nclass Item:", "class Item(BaseModel):")
    .replace("Item(name", "Item(name=name")
)
MOVED = "from changed_other import Item, large, small\n"


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock(jump=False)


@pytest.fixture
def store(clock: VirtualClock) -> MemoryStore:
    return MemoryStore(now=clock.now)


@pytest.fixture
async def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Path]:
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path
    for name in ("changed_shop", "changed_other"):
        sys.modules.pop(name, None)


def deploy(folder: Path, text: str, name: str = "changed_shop") -> ModuleType:
    sys.modules.pop(name, None)
    importlib.invalidate_caches()
    for cached in folder.glob("__pycache__/*"):
        cached.unlink()
    (folder / f"{name}.py").write_text(text, encoding="utf-8")
    return importlib.import_module(name)


def node(store: MemoryStore, clock: VirtualClock, module: ModuleType, **options: Any) -> ManagedRuntime:
    """Without `take_work`: the test says when the node looks."""
    engine = Holdfast(entry_points=False, clock=clock, workflows=[module.small, module.large], **options)
    return engine.runtime_on(store, node="one")


async def parked(folder: Path, store: MemoryStore, clock: VirtualClock) -> None:
    module = deploy(folder, GOOD)
    async with node(store, clock, module) as runtime:
        for name in ("small", "large"):
            await runtime.start(getattr(module, name), {"name": "a"}, instance_id=name)


async def send(runtime: ManagedRuntime) -> None:
    for name in ("small", "large"):
        await runtime.stimuli.event("go", instance_id=name)
    await take_all(runtime)


async def take_all(runtime: ManagedRuntime) -> None:
    poller = node_of(runtime).components.poller
    while await poller.take_due():
        for key in list(poller.in_hand):
            await poller.in_hand.wait_done(key)
    for name in ("small", "large"):
        await node_of(runtime).components.inbox._drain.drain(InstanceKey("", name))


@pytest.mark.parametrize(("text", "named"), [(REQUIRED, "field 'size'"), (RENAMED, "changed_shop:Item")])
async def test_work_is_parked_until_the_class_is_back(
    folder: Path, store: MemoryStore, clock: VirtualClock, text: str, named: str
) -> None:
    await parked(folder, store, clock)
    async with node(store, clock, deploy(folder, text)) as bad:
        await send(bad)
        with pytest.raises((StateUnreadable, CodeMissing), match="changed_shop:Item"):
            await bad.read("small")
        assert [(await bad.row(name)).status for name in ("small", "large")] == [Status.SUSPENDED] * 2
        assert await store.list_dead_letters("") == []
        await node_of(bad).missing_code.check()
        found = [item.message for item in await check_store(store, clock) if item.subject == "code"]
        assert len(found) == 2  # One for each version.
        assert all(named in line for line in found)
        assert {name for name in ("small", "large") if any(name in line for line in found)} == {"small", "large"}

    async with node(store, clock, deploy(folder, GOOD)) as good:
        await take_all(good)
        assert [(await good.read(name)).outputs for name in ("small", "large")] == [
            {"result": "a"},
            {"result": "20000"},
        ]


async def test_a_dataclass_may_become_a_pydantic_model(folder: Path, store: MemoryStore, clock: VirtualClock) -> None:
    await parked(folder, store, clock)

    async with node(store, clock, deploy(folder, PYDANTIC)) as runtime:
        await send(runtime)
        assert [(await runtime.read(name)).status for name in ("small", "large")] == [Status.FINISHED] * 2


async def test_a_renamed_class_is_registered_under_its_stored_name(
    folder: Path, store: MemoryStore, clock: VirtualClock
) -> None:
    await parked(folder, store, clock)
    module = deploy(folder, RENAMED)

    async with node(store, clock, module, types={"changed_shop:Item": module.Article}) as runtime:
        await send(runtime)
        assert [(await runtime.read(name)).status for name in ("small", "large")] == [Status.FINISHED] * 2


async def test_a_moved_class_is_found_in_the_module_that_imports_it(
    folder: Path, store: MemoryStore, clock: VirtualClock
) -> None:
    await parked(folder, store, clock)
    deploy(folder, GOOD, "changed_other")
    module = deploy(folder, MOVED)

    async with node(store, clock, module, types=[module.Item]) as runtime:
        await send(runtime)
        assert [(await runtime.read(name)).status for name in ("small", "large")] == [Status.FINISHED] * 2
