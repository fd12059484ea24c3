"""One effect after another, alone in the process, against a commit of one statement on PostgreSQL. Both take turns."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from statistics import median

from benchmarks.figures import Effort, Figure, Group
from benchmarks.store_databases import POSTGRES, Database, connections, database, world
from benchmarks.waiters import chain
from tests.support.statements import counted_statements

EFFECTS = 200
TURNS = 9
ROW = b"x" * 400
"""About as many bytes as a commit of the chain writes."""

FIGURES = (
    Figure("effect.alone_vs_floor", "time of one sequential effect over a commit of one statement", goal=2),
    Figure("effect.alone_us", "µs of one sequential effect, alone"),
    Figure("effect.statements", "statements per sequential effect"),
)


def measure(effort: Effort) -> Mapping[str, float]:
    with database(POSTGRES) as place, counted_statements() as statements:
        effects, floors, sent = asyncio.run(_measure_in(place, statements.texts))
    return {
        "effect.alone_vs_floor": median(effects) / median(floors),
        "effect.alone_us": median(effects) * 1_000_000,
        "effect.statements": sent,
    }


async def _measure_in(place: Database, texts: list[str]) -> tuple[list[float], list[float], float]:
    effects, floors = list[float](), list[float]()
    sent = 0
    async with world(place) as here:
        (raw,) = await connections(place, 1)
        await raw.execute("create table bench_floor (id bigserial primary key, data bytea)")
        here.runtime.take_work()
        for turn in range(TURNS):
            texts.clear()
            began = time.perf_counter()
            await here.runtime.start(chain, {"effects": EFFECTS}, instance_id=f"chain-{turn}")
            await here.runtime.wait_at_rest(f"chain-{turn}")
            if turn:  # The first turn compiles and opens connections.
                effects.append((time.perf_counter() - began) / EFFECTS)
                sent += len(texts)
            began = time.perf_counter()
            for _ in range(EFFECTS):
                await raw.fetch("insert into bench_floor (data) values ($1)", ROW)
            floors.append((time.perf_counter() - began) / EFFECTS)
        await raw.close()
    return effects, floors, sent / len(effects) / EFFECTS


GROUP = Group("effect alone", FIGURES, measure)
