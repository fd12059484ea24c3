"""Suspended instances resumed by a stimulus, against one transaction per resume without an engine.

A resume finds the bookmark by its key, loads the instance, runs six activities, suspends it again and commits. A stimulus goes
through the dispatcher that responds after the commit (`runtime.inline`): stimuli that arrive during a lookup share the next
lookup, then each match goes to its lane. The baseline finds the bookmark, loads the row, writes it with its journal (a row for
each activity) and moves the bookmark in one transaction, one statement after the other, on 16 connections. Instances are chosen
at random, each by one contender at a time. `BENCH_SLEEPERS=100000` loads fewer than a million; the figures of a million are
then printed but not part of the result.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager
from typing import Any

from benchmarks import store_turns as turns
from benchmarks.figures import Effort, Figure, Group
from benchmarks.results import warn
from benchmarks.store_baselines import STEPS
from benchmarks.store_databases import KINDS, POSTGRES, Database, World, connections, database, sleepers, world
from benchmarks.store_sleepers import ACTIVITIES, Sleepers, put_to_sleep
from benchmarks.store_turns import Measure, Samples, Turn, best_rate, in_flight, in_thread
from holdfast.model.requests import Dispatched
from holdfast.persistence.sql.sqlite.connection import connect

FEW, MANY = 5_000, 1_000_000
IN_FLIGHT = 512
SECONDS = 1.5
CONNECTIONS = 16
"""Connections of the baseline for each of two open databases: the server allows a hundred."""


def figures_of(kind: str) -> tuple[Figure, ...]:
    promised = kind == POSTGRES
    goal = (lambda value: value) if promised else (lambda value: None)
    over = "resumes by stimulus over a transaction per burst, 512 in flight"
    return (
        Figure(f"store.{kind}.resume_ratio.5k", f"{over}, 5,000 suspended", goal(10), at_least=True),
        Figure(f"store.{kind}.resume_ratio.1m", f"{over}, 1,000,000 suspended", goal(8), at_least=True),
        Figure(
            f"store.{kind}.resume_1m_over_5k",
            "rate with a million suspended over the rate with 5,000",
            goal(0.5),
            at_least=True,
        ),
        Figure(
            f"store.{kind}.resume_same_type.1m",
            "a million waiting for one event, addressed by correlation id, over unique events",
            goal(0.8),
            at_least=True,
        ),
        Figure(f"store.{kind}.resumes_per_s.5k", "rate of Holdfast with 5,000 suspended"),
        Figure(f"store.{kind}.resumes_per_s.1m", "rate of Holdfast with a million suspended"),
    )


# -- Holdfast ----------------------------------------------------------------------------------------------------------


def waking(here: World, who: Sleepers) -> Turn:
    dispatch = here.runtime.inline.dispatch

    async def wake(which: int) -> None:
        answer = await dispatch(who.stimulus(_choice(who, which, IN_FLIGHT, half=0)))
        assert isinstance(answer, Dispatched)
        assert len(answer.instance_ids) == 1

    return in_flight(wake, IN_FLIGHT, here.processor, SECONDS)


def _choice(who: Sleepers, which: int, at_once: int, half: int) -> int:
    """An instance that is not in flight. Holdfast resumes the even half, the baseline the odd half: it does not change states."""
    return 2 * (which + at_once * random.randrange(who.count // 2 // at_once)) + half


# -- the baseline ------------------------------------------------------------------------------------------------------

FIND = "select instance_id, seq from hf_bookmark where tenant = '' and wake_key = {0} order by created limit 1"
LOAD = "select version, state from hf_instance where tenant = '' and id = {0}"
MOVE = (
    "update hf_instance set version = version + 1, state = {0}, burst_id = {1}"
    " where tenant = '' and id = {1} and version = {2}"
)
NOTE = (
    "insert into hf_journal (tenant, instance_id, version, burst_id, first_entry, entries, written, data)"
    " values ('', {0}, {1}, {0}, 0, 1, 0, {2})"
)
BURN = "delete from hf_bookmark where tenant = '' and wake_key = {0} and instance_id = {1}"
MARK = (
    "insert into hf_bookmark (tenant, wake_key, correlation, instance_id, seq, type, activity_id, created, payload)"
    " values ('', {0}, 0, {1}, {2}, 'Event', 'Event1', 0, {3})"
)
ENTRY = b"x" * 20
_FIRST_ENTRY = 1_000_000
"""Keeps the baseline's journal rows apart from Holdfast's: the key is the version, and it needs several per version."""


class PostgresTransactions:
    def __init__(self, opened: list[Any], who: Sleepers) -> None:
        self._opened = opened
        self._who = who
        texts = (FIND, LOAD, MOVE, NOTE, BURN, MARK)
        self._texts = [text.format("$1", "$2", "$3", "$4") for text in texts]

    async def __call__(self, which: int) -> None:
        find, load, move, note, burn, mark = self._texts
        connection = self._opened[which]
        key = self._who.key(_choice(self._who, which, len(self._opened), half=1))
        await connection.execute("begin")
        identity, seq = (await connection.fetch(find, key))[0]
        version, state = (await connection.fetch(load, identity))[0]
        await connection.execute(move, state, identity, version)
        for activity in range(ACTIVITIES):
            await connection.execute(note, identity, _FIRST_ENTRY + version * STEPS + activity, ENTRY)
        await connection.execute(burn, key, identity)
        await connection.execute(mark, key, identity, seq, ENTRY)
        await connection.execute("commit")


class SqliteTransactions:
    """The same on a single thread."""

    def __init__(self, place: Database, who: Sleepers) -> None:
        self._connection = connect(place.path)
        self._connection.execute("pragma busy_timeout = 10000")
        self._who = who
        texts = (FIND, LOAD, MOVE, NOTE, BURN, MARK)
        self._texts = [text.format("?1", "?2", "?3", "?4") for text in texts]

    def close(self) -> None:
        self._connection.close()

    def __call__(self) -> int:
        find, load, move, note, burn, mark = self._texts
        run, key = self._connection.execute, self._who.key(_choice(self._who, 0, 1, half=1))
        run("begin immediate")
        identity, seq = run(find, (key,)).fetchone()
        version, state = run(load, (identity,)).fetchone()
        run(move, (state, identity, version))
        for activity in range(ACTIVITIES):
            run(note, (identity, _FIRST_ENTRY + version * STEPS + activity, ENTRY))
        run(burn, (key, identity))
        run(mark, (key, identity, seq, ENTRY))
        run("commit")
        return 1


# -- the run -----------------------------------------------------------------------------------------------------------


@asynccontextmanager
async def population(place: Database, who: Sleepers) -> AsyncIterator[World]:
    async with world(place) as here:
        warn(f"{place.kind}: writing {who.count:,} suspended instances …")
        await put_to_sleep(here, who)
        yield here


@asynccontextmanager
async def transactions(here: World, who: Sleepers) -> AsyncIterator[Turn]:
    if here.database.kind == POSTGRES:
        opened = await connections(here.database, CONNECTIONS)
        try:
            yield in_flight(PostgresTransactions(opened, who), CONNECTIONS, here.processor, SECONDS)
        finally:
            for connection in opened:
                await connection.close()
        return
    bare = SqliteTransactions(here.database, who)
    try:
        yield in_thread(bare, SECONDS)
    finally:
        bare.close()


def _measuring(kind: str) -> Measure:
    return lambda effort: measure(effort, kind)


def measure(effort: Effort, kind: str) -> Mapping[str, float]:
    many = min(MANY, sleepers())
    populations = {"5k": Sleepers(FEW), "1m": Sleepers(many), "same": Sleepers(many, one_type=True)}
    with ExitStack() as places:
        opened = {name: places.enter_context(database(kind)) for name in populations}

        async def all_turns() -> Samples:
            async with AsyncExitStack() as stack:
                contenders: dict[str, Turn] = {}
                for name, who in populations.items():
                    here = await stack.enter_async_context(population(opened[name], who))
                    contenders[name] = waking(here, who)
                    if not who.one_type:
                        contenders[f"{name} bare"] = await stack.enter_async_context(transactions(here, who))
                return await turns.take_turns(contenders, turns.rounds_of(effort.rounds))

        samples = asyncio.run(all_turns())
    return _figures(kind, samples, full=many == MANY)


def _figures(kind: str, samples: Samples, *, full: bool) -> dict[str, float]:
    rates = {name: best_rate(found) for name, found in samples.items()}
    found = {
        f"store.{kind}.resume_ratio.5k": rates["5k"] / rates["5k bare"],
        f"store.{kind}.resumes_per_s.5k": rates["5k"],
    }
    of_many = {
        f"store.{kind}.resume_ratio.1m": rates["1m"] / rates["1m bare"],
        f"store.{kind}.resume_1m_over_5k": rates["1m"] / rates["5k"],
        f"store.{kind}.resume_same_type.1m": rates["same"] / rates["1m"],
        f"store.{kind}.resumes_per_s.1m": rates["1m"],
    }
    if full:
        return found | of_many
    for name, value in of_many.items():
        warn(f"{name}, with fewer suspended instances, so not part of the result: {value:.3g}")
    return found


GROUPS = tuple(Group(f"store resumes, {kind}", figures_of(kind), _measuring(kind)) for kind in KINDS)
