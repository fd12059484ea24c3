"""Wait until an instance rests: it has ended, or it waits for something external."""

from __future__ import annotations

import asyncio
from datetime import timedelta

from holdfast.model.instance import Status
from holdfast.model.stored import InstanceRow
from holdfast.server.backend import Backend

BUSY = frozenset({Status.PENDING.value, Status.RUNNING.value, Status.CANCELING.value})


async def settled(server: Backend, instance_id: str, limit: timedelta) -> bool:
    """Whether the instance came to rest within the limit, on any node."""
    try:
        async with asyncio.timeout(limit.total_seconds()):
            await _settled(server, instance_id)
    except TimeoutError:
        return False
    return True


async def _settled(server: Backend, instance_id: str) -> None:
    store, runtime = server.store, server.runtime
    with runtime.waits.of(runtime.key(instance_id)) as waiter:
        while True:
            if runtime.works_on(instance_id):
                await runtime.settled(instance_id)
            row = await runtime.row(instance_id)
            if is_at_rest(row) and not await store.effects_of(server.tenant, instance_id):
                return
            await waiter.changed(row.version)


def is_at_rest(row: InstanceRow) -> bool:
    return row.finished is not None or row.status not in BUSY
