"""Many suspended instances, written in bulk within minutes: the same rows in every table as the runtime would write.

The runtime suspends one instance. The others are copies of its rows with other ids, event names and correlation ids of the
same length; these texts occur verbatim in the state, so they are replaced there too. Resuming the copies proves that they
are valid.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from msgspec.structs import replace

from benchmarks.store_databases import POSTGRES, Database, World, connections
from holdfast import Workflow, expr
from holdfast.activities import Event, Sequence, SetVariable, While
from holdfast.model.hashing import stimulus_hash
from holdfast.model.requests import EVENT, DispatchResume
from holdfast.model.stored import BookmarkRow, InstanceRow, JournalSegment, correlation_key, wake_key
from holdfast.persistence.codec import codec_of_keys
from holdfast.persistence.sql.first_segment import NEW_COLUMNS, first_of
from holdfast.persistence.sql.instance_tables import BOOKMARK, INSTANCE
from holdfast.persistence.sql.postgresql.list_projection import project
from holdfast.persistence.sql.sqlite.connection import connect

ACTIVITIES = 6
"""Activities per resume: the event, then five assignments; then the instance suspends again."""
CHUNK = 10_000

_CODEC = codec_of_keys("")

_UNLISTED = """insert into hf_unlisted (shard, is_new, tenants, ids, createds)
    select hf_shard(id), true, array_agg(tenant), array_agg(id), array_agg(created) from (
        select tenant, id, created, row_number() over (order by id) / 1000 as part from hf_instance where id > 'SLEEP00000000'
    ) i group by part, 1"""
"""Rows for the projector, as commits leave them but in larger batches. The runtime wrote the first one."""

Rows = dict[str, tuple[tuple[str, ...], list[tuple[Any, ...]]]]
"""Table → columns, rows."""


def sleeper() -> Workflow:
    names = [f"v{number}" for number in range(ACTIVITIES - 1)]
    steps = [SetVariable(name, expr(f"{name} + 1")) for name in names]
    return Workflow(
        While(True, Sequence(Event(expr("wanted")), *steps)),
        id="bench-sleeper",
        name="Sleeper",
        inputs={"wanted": str},
        variables=dict.fromkeys(names, 0),
    )


@dataclass(frozen=True, slots=True)
class Sleepers:
    """A population of suspended instances. `one_type`: all wait for the same event, with different correlation ids."""

    count: int
    one_type: bool = False

    def event(self, number: int) -> str:
        return "wake-everybody-" if self.one_type else f"wake-{number:010d}"

    @staticmethod
    def correlation(number: int) -> str:
        return f"order-{number:010d}"

    @staticmethod
    def identity(number: int) -> str:
        return f"SLEEP{number:08d}"

    def stimulus(self, number: int) -> DispatchResume:
        """The stimulus that resumes only this instance."""
        correlation_id = self.correlation(number) if self.one_type else None
        return DispatchResume(
            activity_type=EVENT, payload={"event_name": self.event(number)}, input=number, correlation_id=correlation_id
        )

    def key(self, number: int) -> int:
        """The key of its bookmark."""
        return _key(self.event(number))


def _hash(event: str) -> str:
    return stimulus_hash(EVENT, {"event_name": event})


def _key(event: str) -> int:
    return wake_key(EVENT, _hash(event).encode())


# -- bulk writes -------------------------------------------------------------------------------------------------------


class _Model:
    """The instance that the others are copied from."""

    def __init__(self, who: Sleepers, row: InstanceRow, mark: BookmarkRow, segment: JournalSegment) -> None:
        self._who = who
        self._row = row
        self._mark = mark
        self._segment = segment

    def rows(self, numbers: range) -> Rows:
        instances, marks = [], []
        for number in numbers:
            row, mark = self._copy(number)
            instances.append((*INSTANCE.encode(row, _CODEC), *first_of(row, self._segment, _CODEC)))
            marks.append(BOOKMARK.encode(mark, _CODEC))
        return {
            INSTANCE.name: (tuple(NEW_COLUMNS.split(", ")), instances),
            BOOKMARK.name: (BOOKMARK.names, marks),
        }

    def _copy(self, number: int) -> tuple[InstanceRow, BookmarkRow]:
        who, model, mark = self._who, self._row, self._mark
        event, identity, correlation = who.event(number), who.identity(number), who.correlation(number)
        first = who.event(0)
        state = model.state.replace(model.id.encode(), identity.encode())
        state = state.replace(who.correlation(0).encode(), correlation.encode())
        if event != first:
            state = state.replace(first.encode(), event.encode())
            state = state.replace(bytes.fromhex(_hash(first)), bytes.fromhex(_hash(event)))
        return (
            replace(model, id=identity, state=state, correlation_id=correlation),
            replace(
                mark,
                instance_id=identity,
                key=_key(event) if event != first else mark.key,
                correlation=correlation_key(correlation),
                payload=mark.payload.replace(first.encode(), event.encode()),
            ),
        )


async def put_to_sleep(here: World, who: Sleepers) -> None:
    model = await _model(here, who)
    numbers = iter(range(1, who.count))
    chunks = iter(lambda: list(itertools.islice(numbers, CHUNK)), [])
    rows = (model.rows(range(chunk[0], chunk[-1] + 1)) for chunk in chunks)
    if here.database.kind == POSTGRES:
        await _copy_in(here.database, rows)
    else:
        await asyncio.to_thread(_insert, here.database, rows)


async def _model(here: World, who: Sleepers) -> _Model:
    """The first instance: written by the runtime, and part of the population."""
    answer = await here.runtime.start(
        sleeper(), {"wanted": who.event(0)}, instance_id=who.identity(0), correlation_id=who.correlation(0)
    )
    assert answer.result is not None
    row = await here.runtime.row(answer.result.instance_id)
    (mark,) = await here.store.bookmarks_of(row.tenant, row.id)
    (segment,) = await here.store.read_journal(row.tenant, row.id)
    assert mark.key == _key(who.event(0))
    return _Model(who, row, mark, segment)


async def _copy_in(place: Database, chunks: Iterator[Rows]) -> None:
    (connection,) = await connections(place, 1)
    try:
        for rows in chunks:
            async with connection.transaction():
                for table, (columns, records) in rows.items():
                    await connection.copy_records_to_table(table, records=records, columns=columns)
        await connection.execute(_UNLISTED)
        await project(connection, wait=True)
        await connection.execute("vacuum analyze")
    finally:
        await connection.close()


def _insert(place: Database, chunks: Iterator[Rows]) -> None:
    connection = connect(place.path, cache_kib=512 * 1024)  # keys are random, so a large cache avoids rereading pages
    connection.execute("pragma synchronous = off")  # for this connection only; measurements use another one
    connection.execute("pragma busy_timeout = 10000")
    try:
        for rows in chunks:
            connection.execute("begin immediate")
            for table, (columns, records) in rows.items():
                values = ", ".join("?" * len(columns))
                connection.executemany(f"insert into {table} ({', '.join(columns)}) values ({values})", records)
            connection.execute("commit")
        connection.execute("analyze")
    finally:
        connection.close()
