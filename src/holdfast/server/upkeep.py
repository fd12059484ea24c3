"""Periodic clean-up of a server: expired sessions, counted sign-in failures, and stored HTTP replies."""

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
from holdfast.runtime.facade import Runtime

SWEEP_INTERVAL = timedelta(minutes=10)
PAGE = 500


async def sweep(store: Store, tenant: str, accounts: Accounts) -> int:
    """Delete expired records; returns the number of deleted replies. Several processes may sweep at once."""
    await accounts.sweep()
    count = 0
    query = RecordQuery(tenant=tenant, kind=REPLY, due_before=await store.now(), limit=PAGE)
    while rows := await store.list_records(query):
        for row in rows:
            count += await store.delete_record(tenant, REPLY, row.id)
    return count


@asynccontextmanager
async def sweeping(runtime: Runtime, accounts: Accounts) -> AsyncIterator[None]:
    """Sweep periodically inside the block."""
    task = asyncio.create_task(_sweep_always(runtime, accounts), name="holdfast-sweep")
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def _sweep_always(runtime: Runtime, accounts: Accounts) -> None:
    while True:
        await asyncio.sleep(SWEEP_INTERVAL.total_seconds())
        try:
            await sweep(runtime.store, runtime.tenant, accounts)
        except HoldfastError:
            runtime.log.warning("cannot delete expired sessions and replies; the next sweep retries")
