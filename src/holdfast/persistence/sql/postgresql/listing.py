"""The list of instances, written behind the commits (rule M7).

Each commit statement leaves the keys that it touched in hf_unlisted: one row per batch, deleted by the transaction
that lists them, so a process that dies leaves them to the next. One projector works at a time in the whole cluster,
under an advisory lock: what it reads is never older than what the one before it wrote, so a deleted instance cannot
come back. Whoever reads a list has listed first what was committed by then, if it takes no longer than a second.
"""

# ruff: noqa: S608 - names and conditions in these texts are ours, every value is a parameter

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from datetime import timedelta

from holdfast.persistence.sql.instance_tables import SUMMARY
from holdfast.persistence.sql.postgresql.connection import TROUBLE, Connection
from holdfast.persistence.sql.postgresql.pool import Pool

_LOCK = 4711_2014_0816
_PAUSE = 0.05
"""Seconds between two rounds: versions that follow each other quickly are listed once."""
_PATIENCE = 1.0
"""The same after a failure."""
_BATCHES = 64
"""How many rows of hf_unlisted one round takes."""
_CHANGES = ", ".join(
    f"{column} = excluded.{column}" for column in SUMMARY.split(", ") if column not in {"tenant", "id"}
)
_LIST = f"""with taken as (
    delete from hf_unlisted where number in (select number from hf_unlisted order by number limit {_BATCHES})
    returning tenants, ids
), found as materialized (
    select k.tenant as whose, k.id as which, {", ".join("i." + column for column in SUMMARY.split(", "))}
    from (select distinct t.tenant, t.id from taken cross join lateral unnest(taken.tenants, taken.ids) t(tenant, id)) k
    left join hf_instance i on i.tenant = k.tenant and i.id = k.id
), listed as (
    insert into hf_listing ({SUMMARY}) select {SUMMARY} from found where id is not null order by tenant, id
    on conflict (tenant, id) do update set {_CHANGES}
), forgotten as (
    delete from hf_listing l using found f where f.id is null and l.tenant = f.whose and l.id = f.which
) select count(*) from taken"""

_PENDING = "select exists (select 1 from hf_unlisted)"

_log = logging.getLogger("holdfast.persistence.postgresql")


class Projector:
    def __init__(self, pool: Pool, pause: float = _PAUSE) -> None:
        self._pool = pool
        self._pause = pause
        self._changed = 0
        """Grows with each commit of this process."""
        self._listed = 0
        """What it was when the last complete round began."""
        self._task: asyncio.Task[None] | None = None
        self._running = asyncio.Lock()
        self._stop = asyncio.Event()

    def mark(self) -> None:
        """Something was committed: list it soon."""
        self._changed += 1
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._soon(), name="holdfast-projector")

    async def catch_up(self, patience: timedelta = timedelta(seconds=1)) -> None:
        """List what is committed by now, by whomever, or as much of it as the patience allows."""
        with suppress(TimeoutError):
            async with asyncio.timeout(patience.total_seconds()):
                await self._round(only_if_pending=True)

    async def close(self) -> None:
        """A last round. What it cannot list, another process lists, or the next start."""
        self._stop.set()
        if self._task is not None:
            await self._task

    async def _soon(self) -> None:
        pause = self._pause
        while self._listed != self._changed:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._stop.wait(), pause)
            try:
                await self._round()
            except TROUBLE as error:
                _log.warning("instances could not be listed yet: %s", error)
                if self._stop.is_set():
                    return
                pause = _PATIENCE

    async def _round(self, *, only_if_pending: bool = False) -> None:
        """Until nothing is left."""
        async with self._pool.connection() as connection:
            if only_if_pending and not (await connection.fetch(_PENDING))[0][0]:
                return
            async with self._running:
                began = self._changed
                while await project(connection):
                    pass
                self._listed = began


async def project(connection: Connection) -> bool:
    """One transaction. Whether there may be more."""
    await connection.execute(f"begin; set local synchronous_commit = off; select pg_advisory_xact_lock({_LOCK})")
    try:
        rows = await connection.fetch(_LIST)
        await connection.execute("commit")
    except BaseException:
        connection.terminate()
        raise
    return int(rows[0][0]) == _BATCHES
