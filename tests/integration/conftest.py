"""Nodes on one store, of each kind that can be had here. Each test has a tenant of its own in a shared database."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack
from datetime import timedelta
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from holdfast import Holdfast
from holdfast.management.runtime import ManagedRuntime
from holdfast.model.stored import InstanceKey
from holdfast.persistence import store_from_url
from holdfast.ports import Outlet, Store
from holdfast.runtime.commits.placement import Placement
from tests.support.node import node_of
from tests.support.probe import probe
from tests.support.services.availability import Needed
from tests.support.services.mysql import mysql_database
from tests.support.services.postgresql import postgres_database

_TENANTS = count(1)


class Cluster:
    """Opens nodes: each has an engine and a store handle of its own, as another process would."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.tenant = f"t{next(_TENANTS)}"
        self._nodes: list[tuple[ManagedRuntime, Store]] = []
        self._memory: Store | None = None

    async def store(self) -> Store:
        if self.url == "memory://" and self._memory is not None:
            return self._memory
        store = store_from_url(self.url)
        await store.open()
        if self.url == "memory://":
            self._memory = store
        return store

    async def node(
        self,
        name: str = "a",
        *,
        work: bool = False,
        time_to_live: timedelta = timedelta(minutes=5),
        engine: Holdfast | None = None,
        queues: tuple[str, ...] = ("default",),
        placement: Placement | None = None,
        outlets: tuple[Outlet, ...] = (),
        **engine_options: Any,
    ) -> ManagedRuntime:
        store = await self.store()
        engine = engine or Holdfast(entry_points=False, **engine_options)
        runtime = engine.runtime_on(
            store,
            tenant=self.tenant,
            node=f"{self.tenant}-{name}",
            queues=queues,
            placement=placement,
            outlets=outlets,
        )
        runtime.liveness.time_to_live = time_to_live
        await node_of(runtime).start()
        if work:
            node_of(runtime).take_work()
        self._nodes.append((runtime, store))
        return runtime

    async def died(self, runtime: ManagedRuntime) -> None:
        """For the cluster this node is dead from now on, though its process goes on: the worst kind."""
        await runtime.store.register_node(runtime.membership.name, time_to_live=timedelta(0))

    async def close(self) -> None:
        for runtime, store in self._nodes:
            await node_of(runtime).stop()
            await store.close()

    # -- what must hold ------------------------------------------------------------------------------------------------

    async def check(self, runtime: ManagedRuntime, instance_id: str) -> None:
        """Every commit has its segment; journal entries are numbered without a gap; rows fit the state."""
        store = runtime.store
        row = await runtime.row(instance_id)
        segments = await store.read_journal(self.tenant, instance_id, limit=10_000)
        journal = await runtime.journal(instance_id, limit=10_000)
        assert [entry.sequence for entry in journal] == list(range(len(journal)))
        assert max((segment.version for segment in segments), default=0) <= row.version
        export = await store.export_instance(self.tenant, instance_id)
        assert export is not None
        live = (await runtime.read(instance_id))._live
        assert live.journal_base == len(journal)
        assert live.commits == row.version
        stored = {mark.seq for mark in export.bookmarks}
        waiting = {int(key[1:]) for key, mark in live.bookmarks.items() if mark.kind in ("activity", "child")}
        assert stored == (set() if live.status.at_rest else waiting)
        assert {effect.execution for effect in export.effects} == {*live.effects, *live.ending}
        assert (await store.versions_of([InstanceKey(self.tenant, instance_id)])) == {
            InstanceKey(self.tenant, instance_id): row.version
        }


@pytest.fixture(autouse=True)
def _probe() -> Iterator[None]:
    probe.renew()
    yield
    probe.gate.set()


@pytest.fixture(scope="session")
def servers() -> Iterator[dict[str, str]]:
    """URLs of databases of our own, started when a test first asks for one."""
    with ExitStack() as stack:
        yield _Servers(stack)


class _Servers(dict[str, str]):
    def __init__(self, stack: ExitStack) -> None:
        super().__init__()
        self._stack = stack

    def __missing__(self, kind: str) -> str:
        make = {"postgresql": postgres_database, "mysql": mysql_database}[kind]
        self[kind] = self._stack.enter_context(make())
        return self[kind]


@pytest.fixture(
    params=[
        "memory",
        "sqlite",
        pytest.param("postgresql", marks=pytest.mark.service("postgres")),
        pytest.param("mysql", marks=pytest.mark.service("mysql")),
    ]
)
def store_url(request: pytest.FixtureRequest, tmp_path: Path, servers: dict[str, str]) -> str:
    if request.param == "memory":
        return "memory://"
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'holdfast.db'}"
    with Needed("postgres" if request.param == "postgresql" else "mysql"):
        return servers[request.param]


@pytest.fixture
async def cluster(store_url: str) -> AsyncIterator[Cluster]:
    cluster = Cluster(store_url)
    try:
        async with asyncio.timeout(60):
            yield cluster
    finally:
        await cluster.close()
