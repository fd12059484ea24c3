"""The database as a queue: rows are enqueued in batches of 512, and claimed and deleted 500 at a time.

Each row is a message of 100 bytes. Two producers enqueue rows, and each batch is durable before the next. Two consumers claim
rows and delete them in the same transaction, until the queue is empty.
"""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import partial

from benchmarks import store_turns as turns
from benchmarks.figures import Effort, Figure, Group
from benchmarks.store_databases import KINDS, POSTGRES, World, database, world
from benchmarks.store_turns import Measure, Sample, Samples, Turn, best_rate
from holdfast.model.commit import Commit, Committed
from holdfast.model.work import WorkKind, WorkRow

QUEUE = "bench"
PUT = 512
TAKE = 500
MESSAGES = 20 * PUT
CLIENTS = 2
BODY = b"x" * 100

_numbers = itertools.count()


def figures_of(kind: str) -> tuple[Figure, ...]:
    goal = 60_000 if kind == POSTGRES else None
    return (
        Figure(
            f"store.{kind}.enqueue_per_s", "messages enqueued in the database queue, best turn", goal, at_least=True
        ),
        Figure(f"store.{kind}.dequeue_per_s", "messages claimed and deleted, best turn", goal, at_least=True),
    )


def _measuring(kind: str) -> Measure:
    return lambda effort: measure(effort, kind)


def measure(effort: Effort, kind: str) -> Mapping[str, float]:
    with database(kind) as place:

        async def all_turns() -> Samples:
            async with world(place) as here:
                return await turns.take_turns(contenders(here), turns.rounds_of(effort.rounds))

        samples = asyncio.run(all_turns())
    return {f"store.{kind}.{name}": best_rate(found) for name, found in samples.items()}


def contenders(here: World) -> dict[str, Turn]:
    """The order matters: the second contender consumes the messages of the first."""
    return {"enqueue_per_s": partial(_put, here), "dequeue_per_s": partial(_take, here)}


async def _put(here: World) -> Sample:
    now = datetime.now(UTC)
    rows = [
        WorkRow(id=f"m{next(_numbers):012d}", kind=WorkKind.START, queue=QUEUE, created=now, payload=BODY)
        for _ in range(MESSAGES)
    ]
    batches = iter([rows[first : first + PUT] for first in range(0, MESSAGES, PUT)])
    begin = time.perf_counter()

    async def producer() -> None:
        for batch in batches:
            assert all(await here.store.enqueue(batch))

    await asyncio.gather(*(producer() for _ in range(CLIENTS)))
    return Sample(MESSAGES, time.perf_counter() - begin)


async def _take(here: World) -> Sample:
    begin = time.perf_counter()
    taken = sum(await asyncio.gather(*(_consumer(here) for _ in range(CLIENTS))))
    seconds = time.perf_counter() - begin
    assert taken == MESSAGES, f"{taken} of {MESSAGES} messages were claimed."
    return Sample(taken, seconds)


async def _consumer(here: World) -> int:
    taken = 0
    while True:
        async with here.store.claim([QUEUE], TAKE) as claim:
            if not claim.rows:
                return taken
            commit = Commit(burst_id=here.runtime.new_id(), work_consumed=tuple(row.id for row in claim.rows))
            (outcome,) = await claim.commit([commit])
            taken += len(claim.rows) if isinstance(outcome, Committed) else 0


GROUPS = tuple(Group(f"store queue, {kind}", figures_of(kind), _measuring(kind)) for kind in KINDS)
