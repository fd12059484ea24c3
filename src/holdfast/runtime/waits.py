"""Waits for changes by any node of the cluster: the store reports a change, and the row says what changed.

A change may be reported late or not at all (a lost connection, a store without notifications), so each wait polls too.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import timedelta

from holdfast.model.instance import Status
from holdfast.model.stored import InstanceKey
from holdfast.ports import Store
from holdfast.runtime.commits.instance_reader import InstanceReader
from holdfast.runtime.result import RunResult
from holdfast.runtime.stimuli.dedupe import Settled

POLL_INTERVAL = timedelta(seconds=1)
BUSY = (Status.PENDING, Status.RUNNING, Status.CANCELING)


async def burst(store: Store, reader: InstanceReader, key: InstanceKey, limit: timedelta, above: int) -> str:
    """Wait until the instance has ended or is suspended, at a version above `above`; returns its status, also at the limit."""
    status, seen = str(Status.PENDING), -1
    with suppress(TimeoutError):
        async with asyncio.timeout(limit.total_seconds()):
            while True:
                row = await reader.row(key)
                status = row.status
                if row.version > above and status not in BUSY:
                    break
                seen = await store.wait_for_change(seen, POLL_INTERVAL)
    return status


async def routed(settled: Settled, tenant: str, stimulus_id: str, limit: timedelta) -> bool:
    """Wait until this node has routed the stimulus; False at the limit."""
    if settled.has(tenant, stimulus_id):
        return True
    try:
        async with asyncio.timeout(limit.total_seconds()):
            await settled.wait(tenant, stimulus_id)
    except TimeoutError:
        return False
    return True


async def at_rest(store: Store, read: Callable[[], Awaitable[RunResult]]) -> RunResult:
    """Wait until the instance has ended."""
    seen = -1
    while True:
        result = await read()
        if result.status.at_rest:
            return result
        seen = await store.wait_for_change(seen, POLL_INTERVAL)
