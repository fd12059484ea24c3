"""What a server clears away now and then: sessions that ended, counted failures, answers that nobody fetched."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta

from holdfast.errors import HoldfastError
from holdfast.identity.accounts import Accounts
from holdfast.model.record_rows import RecordQuery
from holdfast.model.replies import REPLY
from holdfast.ports import Store
from holdfast.runtime.cluster.node import Node

EVERY = timedelta(minutes=10)
PAGE = 500


async def sweep(store: Store, tenant: str, accounts: Accounts) -> int:
    """How many answers were deleted; several processes may do it at once."""
    await accounts.sweep()
    count = 0
    query = RecordQuery(tenant=tenant, kind=REPLY, due_before=await store.now(), limit=PAGE)
    while rows := await store.list_records(query):
        for row in rows:
            count += await store.delete_record(tenant, REPLY, row.id)
    return count


@asynccontextmanager
async def sweeping(node: Node, accounts: Accounts) -> AsyncIterator[None]:
    """Again and again, while the block lasts."""
    task = asyncio.create_task(_sweep_always(node, accounts), name="holdfast-sweep")
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def _sweep_always(node: Node, accounts: Accounts) -> None:
    while True:
        await asyncio.sleep(EVERY.total_seconds())
        try:
            await sweep(node.store, node.tenant, accounts)
        except HoldfastError:
            node.outage.warn("old sessions and answers could not be cleared away, they stay for now")
