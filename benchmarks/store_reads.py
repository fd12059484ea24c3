"""Cost of reading lists among a million instances, over the cost among a thousand.

The rows are written by SQL, spread evenly over 30 days: one definition in ten, nine of ten instances have ended, one of ten has
a name. CPU of the process and of the server processes counts, not the disk.
"""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import closing

from benchmarks.figures import Effort, Figure, Group
from benchmarks.rounds import MICROSECONDS
from benchmarks.store_databases import KINDS, SQLITE, Database, Processor, connections, database
from holdfast import Holdfast
from holdfast.model.listing import InstanceFilter, InstanceQuery, InstanceSort
from holdfast.model.upkeep import RetentionRule
from holdfast.persistence.sql.postgresql.list_projection import project
from holdfast.server.backend import Backend
from holdfast.server.views import statistics

FEW, MANY = 1_000, 1_000_000
ROUNDS = 5
RETIRED = 50
"""Instances that one round of retention deletes."""
DAYS = 30

READS = {
    "list": "a page of 50 instances, by -created and -updated and by status",
    "search": "a search for the beginning of eleven correlation ids",
    "dashboard": "the dashboard of 30 days",
    "retire": "retention, per instance deleted",
}
FIGURES = {
    kind: tuple(
        figure
        for name, what in READS.items()
        for figure in (
            Figure(f"reads.1m.{name}.{kind}", f"CPU of {what}: {MANY:,} instances over {FEW:,}", goal=2),
            Figure(f"reads.1m.{name}.{kind}.us", f"CPU µs of {what}, among {MANY:,}"),
        )
    )
    for kind in KINDS
}

_ROWS = """select '', 'i' || {pad}, 1, 'b',
    case when n % 20 = 0 then 'suspended' when n % 50 = 1 then 'faulted' when n % 50 = 2 then 'canceled' else 'finished' end,
    'c' || (n % 10), 'd' || (n % 10), 1, 'k' || n, case when n % 10 = 3 then 'name ' || n end, 0, 0,
    {began} + n * {step}, {began} + n * {step} + 1000000,
    case when n % 20 = 0 then null else {began} + n * {step} + 1000000 end, {state} from {numbers}"""
_COLUMNS = """tenant, id, version, burst_id, status, content, definition_id, definition_version, correlation_id, name, is_system,
    incidents, created, updated, finished, state"""


async def fill(place: Database, count: int, now: int) -> None:
    span = DAYS * 86_400 * 1_000_000
    values = {"began": now - span, "step": span // count}
    if place.kind == SQLITE:
        numbers = f"(with recursive s(n) as (select 1 union all select n + 1 from s where n < {count}) select n from s)"
        rows = _ROWS.format(pad="printf('%08d', n)", state="x''", numbers=numbers, **values)
        with closing(sqlite3.connect(place.path)) as connection:
            connection.execute("pragma synchronous = off")
            connection.execute("pragma cache_size = -400000")
            connection.execute(f"insert into hf_instance ({_COLUMNS}) {rows}")
            connection.commit()
        return
    (connection,) = await connections(place, 1)
    rows = _ROWS.format(
        pad="lpad(n::text, 8, '0')", state="''::bytea", numbers=f"generate_series(1::bigint, {count}) n", **values
    )
    await connection.execute(f"insert into hf_instance ({_COLUMNS}) {rows}", timeout=300)
    await connection.execute(
        """insert into hf_unlisted (shard, is_new, tenants, ids, createds)
        select hf_shard(id), true, array_agg(tenant), array_agg(id), array_agg(created) from (
            select tenant, id, created, row_number() over (order by id) / 1000 as part from hf_instance) i group by part, 1""",
        timeout=300,
    )
    await project(connection, wait=True)
    await connection.execute("analyze")
    await connection.close()


Read = Callable[[], Awaitable[int]]
"""A read that returns how many times it was done."""


def reads(server: Backend, count: int) -> Mapping[str, Read]:
    store = server.store

    async def pages() -> int:
        for sort in (InstanceSort.CREATED, InstanceSort.UPDATED):
            await store.search(InstanceQuery(sort=sort, limit=50))
        await store.search(InstanceQuery(filter=InstanceFilter(statuses=("faulted",)), limit=50))
        return 1

    async def search() -> int:
        beginning = f"k{count // 2}"[:-1]  # of eleven correlation ids
        page = await store.search(InstanceQuery(filter=InstanceFilter(search=beginning), limit=50))
        assert len(page.items) == 11
        return 1

    async def dashboard() -> int:
        found = await statistics.collect(server, "30d")
        assert sum(found.by_status.values()) >= FEW // 2
        return 1

    async def retire() -> int:
        rule = RetentionRule(finished_before=await store.now(), statuses=("finished",))
        expired = await store.find_expired("", rule, RETIRED)
        return await store.delete_instances("", expired)

    return {"list": pages, "search": search, "dashboard": dashboard, "retire": retire}


def measure(kind: str) -> Callable[[Effort], Mapping[str, float]]:
    def run(effort: Effort) -> Mapping[str, float]:
        cost: dict[int, dict[str, float]] = {}
        for count in (FEW, MANY):
            with database(kind) as place:
                cost[count] = asyncio.run(_cost(place, count))
        return {
            name: value
            for read in READS
            for name, value in (
                (f"reads.1m.{read}.{kind}", cost[MANY][read] / cost[FEW][read]),
                (f"reads.1m.{read}.{kind}.us", cost[MANY][read] * MICROSECONDS),
            )
        }

    return run


async def _cost(place: Database, count: int) -> dict[str, float]:
    """CPU seconds of each read, the least of several rounds."""
    found: dict[str, float] = {}
    server, processor = Backend(Holdfast(store=place.url), auth=False), Processor(place)
    await server.open()
    await processor.open()
    try:
        await fill(place, count, round((await server.store.now()).timestamp() * MICROSECONDS))
        assert await server.store.count("", InstanceFilter()) == count
        for name, read in reads(server, count).items():
            for _ in range(ROUNDS):
                before, used = await processor.backends(), time.process_time()
                times = await read()
                used = time.process_time() - used
                after = await processor.backends()
                used += sum(cpu - before.get(pid, 0.0) for pid, cpu in after.items())
                found[name] = min(found.get(name, used), used / max(1, times))
    finally:
        await processor.close()
        await server.close()
    return found


GROUPS = tuple(Group(f"reads.1m.{kind}", FIGURES[kind], measure(kind)) for kind in KINDS)
