"""Code that is gone: work is left to those who have it; where nobody has it for five minutes, one incident per version."""

from __future__ import annotations

import importlib
import sys
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from types import ModuleType

import pytest

from holdfast import Holdfast, Status
from holdfast.errors import CodeMissing
from holdfast.management.doctor import Level, check_store
from holdfast.management.runtime import ManagedRuntime
from holdfast.model.catalog import DefinitionQuery, Which
from holdfast.model.problem import errors_in
from holdfast.persistence.memory import MemoryStore
from holdfast.runtime.plans.missing_code import missing_code
from holdfast.testing import VirtualClock
from tests.support.node import node_of

MODULE = """
from holdfast import wait_for, workflow


def price(x):
    return 2 * x


@workflow
async def fulfil(x: int) -> int:
    await wait_for("go")
    return price(x)
"""
WITHOUT = MODULE.replace("price", "cost")


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
    sys.modules.pop("gone_shop", None)


def deploy(folder: Path, text: str) -> ModuleType:
    sys.modules.pop("gone_shop", None)
    importlib.invalidate_caches()
    for cached in folder.glob("__pycache__/*"):
        cached.unlink()
    (folder / "gone_shop.py").write_text(text, encoding="utf-8")
    return importlib.import_module("gone_shop")


def node(store: MemoryStore, clock: VirtualClock, name: str, tenant: str = "") -> ManagedRuntime:
    """Without `take_work`: the test says when a node looks."""
    runtime = Holdfast(entry_points=False, clock=clock).runtime_on(store, node=name, tenant=tenant)
    runtime.liveness.time_to_live = timedelta(days=1)
    return runtime


async def test_it_is_told_at_once_what_nobody_has(
    folder: Path, store: MemoryStore, clock: VirtualClock, caplog: pytest.LogCaptureFixture
) -> None:
    module = deploy(folder, MODULE)
    async with node(store, clock, "old") as old:
        await old.start(module.fulfil, {"x": 1})
        deploy(folder, WITHOUT)
        async with node(store, clock, "new") as new:
            for _ in range(2):
                await node_of(new).missing_code.check()
            (told,) = [item.getMessage() for item in caplog.records if "left to other nodes" in item.getMessage()]
            assert told.startswith("1 live instance(s) of 'fulfil' version 1")
            assert "gone_shop:price" in told
            assert [item for item in await check_store(store, clock) if item.subject == "code"] == []

    async with node(store, clock, "newer") as alone:
        await node_of(alone).missing_code.check()
        (found,) = [item for item in await check_store(store, clock) if item.subject == "code"]
        assert found.level is Level.HINT
        assert "gone_shop:price" in found.message


async def test_the_doctor_looks_at_all_tenants(folder: Path, store: MemoryStore, clock: VirtualClock) -> None:
    module = deploy(folder, MODULE)
    async with node(store, clock, "old", "acme") as old:
        await old.start(module.fulfil, {"x": 1})
    deploy(folder, WITHOUT)
    async with node(store, clock, "new", "acme") as new:
        await node_of(new).missing_code.check()
        (found,) = [item for item in await check_store(store, clock) if item.subject == "code"]

    assert "of tenant 'acme'" in found.message
    assert "gone_shop:price" in found.message


async def test_one_incident_with_the_remedy(folder: Path, store: MemoryStore, clock: VirtualClock) -> None:
    module = deploy(folder, MODULE)
    async with node(store, clock, "old") as old:
        started = [await old.start(module.fulfil, {"x": number}) for number in range(3)]
    deploy(folder, WITHOUT)
    async with node(store, clock, "a") as one, node(store, clock, "b") as other:
        for minutes in (0, 4):
            clock.advance(timedelta(minutes=minutes))
            await node_of(one).missing_code.check()
            assert node_of(one).components.plans.lacking
        await node_of(other).missing_code.check()
        clock.advance(timedelta(minutes=4))
        await node_of(one).missing_code.check()
        assert await missing_code(store, one.tenant) == []  # the other one may have had it until four minutes ago

        clock.advance(timedelta(minutes=1))
        await node_of(one).missing_code.check()
        await node_of(other).missing_code.check()
        (missing,) = await missing_code(store, other.tenant)
        assert (missing.definition_id, missing.version, missing.instances) == ("fulfil", 1, 3)
        assert "gone_shop:price" in missing.reason
        assert "alias" in missing.remedy

        found = [item for item in await check_store(store, clock) if item.subject == "code"]
        assert [item.level for item in found] == [Level.WRONG]
        assert "version 1 of 'fulfil'" in found[0].message

        rows = [await one.row(item.result.instance_id) for item in started if item.result is not None]
        assert [row.status for row in rows] == [Status.SUSPENDED] * 3

        back = deploy(folder, MODULE)
        async with node(store, clock, "c") as third:
            await node_of(third).missing_code.check()
            assert await missing_code(store, one.tenant) == []
            assert node_of(third).components.plans.lacking == set()
            assert started[0].result is not None
            ended = await third.resume(started[0].result.instance_id)
            assert ended.outputs == {"result": back.price(0)}


ACTIVITY = """
from holdfast import activity, wait_for, workflow


@activity
async def price(x: int) -> int:
    return 2 * x


@workflow
async def fulfil(x: int) -> int:
    await wait_for("go")
    return await price(x)
"""


async def test_an_activity_answers_to_its_old_name(folder: Path, store: MemoryStore, clock: VirtualClock) -> None:
    module = deploy(folder, ACTIVITY)
    async with node(store, clock, "old") as old:
        started = await old.start(module.fulfil, {"x": 4})
        assert started.result is not None
        identity = started.result.instance_id
        plan = await old.plans.plan((await old.row(identity)).content)
    renamed = ACTIVITY.replace("@activity", '@activity(aliases=["price"])').replace("price(x", "cost(x")
    module = deploy(folder, renamed)
    engine = Holdfast(entry_points=False, clock=clock, activities=[module.cost])
    async with engine.runtime_on(store, node="new") as new:
        await new.resume(identity)
        assert (await new.wait_at_rest(identity)).outputs == {"result": 8}
    assert errors_in(engine.validate(plan.definition)) == []
    assert "price" not in engine.descriptors


async def test_inputs_that_are_gone_are_told(folder: Path, store: MemoryStore, clock: VirtualClock) -> None:
    module = deploy(folder, ACTIVITY)
    async with node(store, clock, "old") as old:
        started = await old.start(module.fulfil, {"x": 4})
        assert started.result is not None
    module = deploy(folder, ACTIVITY.replace("price(x: int)", "price(y: int)").replace("2 * x", "2 * y"))
    engine = Holdfast(entry_points=False, clock=clock, activities=[module.price])
    async with engine.runtime_on(store, node="new") as new:
        with pytest.raises(CodeMissing, match=r"'price' has no input 'x'.*Keep its old inputs"):
            await new.resume(started.result.instance_id)


async def test_a_node_that_has_it_keeps_the_incident_away(
    folder: Path, store: MemoryStore, clock: VirtualClock
) -> None:
    module = deploy(folder, MODULE)
    async with node(store, clock, "old") as old:
        await old.start(module.fulfil, {"x": 1})
        deploy(folder, WITHOUT)
        async with node(store, clock, "new") as new:
            for _ in range(3):
                clock.advance(timedelta(minutes=5))
                await node_of(new).missing_code.check()
            assert node_of(new).components.plans.lacking
            assert await missing_code(store, new.tenant) == []


async def test_lines_and_comments_make_no_version(folder: Path, store: MemoryStore, clock: VirtualClock) -> None:
    contents, numbers = [], []
    for text in (MODULE, MODULE.replace("    await", "    # Wait, then\n    await"), MODULE.replace("go", "gone")):
        module = deploy(folder, text)
        async with node(store, clock, "a") as runtime:
            started = await runtime.start(module.fulfil, {"x": 1})
            assert started.result is not None
            row = await runtime.row(started.result.instance_id)
            contents.append(row.content)
            numbers.append(row.definition_version)
    assert contents[0] == contents[1] != contents[2]
    assert numbers == [1, 1, 2]
    labels, _ = await store.list_versions("", DefinitionQuery(which=Which.ALL, definition_ids=("fulfil",)))
    assert sorted((label.version, label.content) for label in labels) == [(1, contents[0]), (2, contents[2])]
