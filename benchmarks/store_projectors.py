"""Cost of the projection of the list on PostgreSQL, with 1, 2 and 4 projectors at once.

Every round writes new instances and a change of each, as batches of 128 commits do. CPU of this process and of the server
processes counts, per projected version.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from typing import Any

from benchmarks.figures import Effort, Figure, Group
from benchmarks.rounds import MICROSECONDS
from benchmarks.store_databases import POSTGRES, Database, Processor, database
from holdfast.persistence.sql.postgresql import PostgresStore
from holdfast.persistence.sql.postgresql.connection import LANE, ORDINARY, connect
from holdfast.persistence.sql.postgresql.list_projection import project

INSTANCES = 20_000
BATCH = 128
PROJECTORS = (1, 2, 4)
ROUNDS = 4

FIGURES = (
    Figure("projectors.4_over_1", "CPU per projected version: 4 projectors at once over 1", goal=1.2),
    *(Figure(f"projectors.{n}.us", f"CPU µs per projected version with {n} at once") for n in PROJECTORS),
)

_NEW = """insert into hf_instance (tenant, id, version, burst_id, status, content, definition_id, definition_version, is_system,
        incidents, created, updated, state)
    select '', $1 || '-' || n, 1, 'b', 'running', 'c' || n % 10, 'd' || n % 10, 1, 0, 0, n, n, '' from generate_series(1, $2) n"""
_CHANGED = """update hf_instance set version = 2, status = 'finished', updated = created + 1, finished = created + 1
    where id like $1"""
_UNLIST = f"""insert into hf_unlisted (shard, is_new, tenants, ids, createds)
    select hf_shard(id), $2, array_agg(tenant), array_agg(id), array_agg(created) from hf_instance
    where id like $1 group by created / {BATCH}, 1 order by created / {BATCH}"""


def measure(effort: Effort) -> Mapping[str, float]:
    with database(POSTGRES) as place:
        cost = asyncio.run(_measure(place))
    return {"projectors.4_over_1": cost[4] / cost[1], **{f"projectors.{n}.us": cost[n] for n in PROJECTORS}}


async def _measure(place: Database) -> dict[int, float]:
    """CPU µs per version by the number of projectors: the least of several rounds, which alternate."""
    store, processor = PostgresStore(place.url), Processor(place)
    await store.open()
    await store.close()
    await processor.open()
    writer = await connect(place.url, ORDINARY, limited=False)
    lanes = [await connect(place.url, LANE) for _ in range(max(PROJECTORS))]
    cost: dict[int, float] = {}
    for number in range(ROUNDS):
        for count in PROJECTORS:
            used = 0.0
            for is_new in (True, False):
                await _write(writer, f"{number}.{count}", is_new=is_new)
                used += await _used(processor, lanes[:count])
                assert not (await writer.fetch("select exists (select 1 from hf_unlisted)"))[0][0]
            if number:  # The first round fills caches and plans.
                cost[count] = min(cost.get(count, used), used)
    for lane in (writer, *lanes):
        await lane.close()
    await processor.close()
    return {count: used / (2 * INSTANCES) * MICROSECONDS for count, used in cost.items()}


async def _write(connection: Any, prefix: str, *, is_new: bool) -> None:
    if is_new:
        await connection.execute(_NEW, prefix, INSTANCES)
    else:
        await connection.execute(_CHANGED, f"{prefix}-%")
    await connection.execute(_UNLIST, f"{prefix}-%", is_new)
    await connection.execute("vacuum analyze")


async def _used(processor: Processor, lanes: list[Any]) -> float:
    before, own = await processor.backends(), time.process_time()
    await asyncio.gather(*map(project, lanes))
    own = time.process_time() - own
    after = await processor.backends()
    return own + sum(used - before.get(pid, 0.0) for pid, used in after.items())


GROUP = Group("projectors", FIGURES, measure)
