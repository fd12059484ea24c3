"""Projection of the list of instances, written after the commits (rule M7).

Each commit statement adds the keys of its instances to hf_unlisted, one row per batch. The transaction that lists these
instances deletes the row, so another process continues after a crash. Only one projector of the cluster works at a time,
under an advisory lock: it never reads older rows than its predecessor wrote, so a deleted instance cannot reappear. Before a
list is read, all commits so far are projected, for at most one second.

Values that many instances share (definition, content, status) are a row of hf_group with a hash as its key; the view
hf_listed joins them. A new instance is not in the list yet, so it is inserted without a check. If it is in the list after all
(it was deleted and imported in the meantime), the round is repeated with a check.
"""

# ruff: noqa: S608 - names and conditions in these texts are ours, every value is a parameter

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from datetime import timedelta

from holdfast.errors import StoreUnavailable
from holdfast.persistence.sql.postgresql.connection import STORE_ERRORS, Connection, is_there_already
from holdfast.persistence.sql.postgresql.pool import Pool, roll_back

_LOCK = 4711_2014_0816
_ROUND_INTERVAL = 0.2
"""Seconds between two rounds. Fewer rounds cost less, and versions in quick succession are listed only once."""
_RETRY_INTERVAL = 1.0
"""Seconds until the next round after an error."""
_ROUND_BATCHES = 64
"""Rows of hf_unlisted in one round."""
_OWN = "tenant, id, version, correlation_id, name, parent_id, incidents, created, updated, finished"
"""Listed columns of an instance, besides its group."""
_CHANGES = ", ".join(
    f"{column} = excluded.{column}"
    for column in (*_OWN.split(", "), "group_number")
    if column not in {"tenant", "created", "id"}
)
_OF_GROUP = "tenant, definition_id, definition_version, content, status, is_system"
GROUP = """hashtextextended(i.tenant, hashtextextended(i.definition_id, hashtextextended(i.content,
    hashtextextended(i.status, i.definition_version::bigint * 2 + i.is_system))))"""
_SAME = "i.tenant = k.tenant and i.id = k.id and i.created = k.created"


def _list(*, looking: bool) -> str:
    own = ", ".join("i." + column for column in _OWN.split(", "))
    keys = "from taken cross join lateral unnest(tenants, ids, createds) k(tenant, id, created)"
    insert = f"insert into hf_listing ({_OWN}, group_number)"
    return f"""with taken as (
    delete from hf_unlisted where number in (select number from hf_unlisted order by number limit {_ROUND_BATCHES})
    returning is_new, tenants, ids, createds
), new as not materialized (
    select k.* {keys} where {"false" if looking else "is_new"}
), again as materialized (
    select distinct k.* {keys} where {"true" if looking else "not is_new"}
    and not exists (select 1 from new i where {_SAME})
), found as materialized (
    select k.tenant as whose, k.id as which, k.created as since, {own}, {GROUP} as group_number
    from again k left join hf_instance i on {_SAME}
), listed as (
    {insert} select {own}, {GROUP} from new k join hf_instance i on {_SAME} order by k.created
    returning group_number, tenant, id
), listed_again as (
    {insert} select {_OWN}, group_number from found where id is not null order by tenant, id
    on conflict (tenant, created, id) do update set {_CHANGES} returning group_number, tenant, id
), forgotten as (
    delete from hf_listing l using found f
    where f.id is null and l.tenant = f.whose and l.created = f.since and l.id = f.which
), grouped as (
    insert into hf_group (number, {_OF_GROUP})
    select m.group_number, {", ".join("i." + column for column in _OF_GROUP.split(", "))} from (
        select group_number, min(tenant) as tenant, min(id) as id
        from (table listed union all table listed_again) a group by group_number
    ) m join hf_instance i on i.tenant = m.tenant and i.id = m.id
    where not exists (select 1 from hf_group g where g.tenant = m.tenant and g.number = m.group_number) on conflict do nothing
) select count(*) from taken"""


_LIST = _list(looking=False)
_LIST_LOOKING = _list(looking=True)
_PENDING = "select exists (select 1 from hf_unlisted)"

_log = logging.getLogger("holdfast.persistence.postgresql")


class Projector:
    def __init__(self, pool: Pool, pause: float = _ROUND_INTERVAL) -> None:
        self._pool = pool
        self._pause = pause
        self._changed = 0
        """Number of commits of this process."""
        self._listed = 0
        """Value of `_changed` at the start of the last complete round."""
        self._task: asyncio.Task[None] | None = None
        self._running = asyncio.Lock()
        self._stop = asyncio.Event()

    def mark(self) -> None:
        """Schedule a round after a commit."""
        self._changed += 1
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._list_soon(), name="holdfast-projector")

    async def catch_up(self, timeout: timedelta = timedelta(seconds=1)) -> None:
        """Project all commits so far, of any process, as far as the timeout allows. Errors are ignored: the query that follows
        raises them."""
        with suppress(TimeoutError, *STORE_ERRORS):
            async with asyncio.timeout(timeout.total_seconds()):
                await self._round(only_if_pending=True)

    async def close(self) -> None:
        """Run a last round. Another process, or the next start, lists the rest."""
        self._stop.set()
        if self._task is not None:
            await self._task

    async def _list_soon(self) -> None:
        pause = self._pause
        while self._listed != self._changed:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._stop.wait(), pause)
            try:
                await self._round()
            except STORE_ERRORS as error:
                # Callers report an unreachable server, so it is only logged as debug here.
                level = logging.DEBUG if isinstance(error, StoreUnavailable) else logging.WARNING
                _log.log(level, "the list of instances could not be updated, it will be retried: %s", error)
                if self._stop.is_set():
                    return
                pause = _RETRY_INTERVAL

    async def _round(self, *, only_if_pending: bool = False) -> None:
        """Project until hf_unlisted is empty."""
        async with self._pool.connection() as connection:
            if only_if_pending and not (await connection.fetch(_PENDING))[0][0]:
                return
            async with self._running:
                began = self._changed
                while await project(connection):
                    pass
                self._listed = began


async def project(connection: Connection) -> bool:
    """Project one batch in one transaction. Returns whether there may be more."""
    try:
        return await _project(connection, _LIST)
    except Exception as error:
        if not is_there_already(error):
            raise
    return await _project(connection, _LIST_LOOKING)


async def _project(connection: Connection, text: str) -> bool:
    await connection.execute(f"begin; set local synchronous_commit = off; select pg_advisory_xact_lock({_LOCK})")
    try:
        rows = await connection.fetch(text)
        await connection.execute("commit")
    except BaseException as error:
        if is_there_already(error):
            await roll_back(connection)
        else:
            connection.terminate()
        raise
    return int(rows[0][0]) == _ROUND_BATCHES
