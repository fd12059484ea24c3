"""Waiting for what any node of the cluster may do: the store tells that something changed, and the row says what.

A change may be told late or not at all (a lost connection, a store without a bell), so each wait looks again by itself.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import timedelta
from typing import TYPE_CHECKING

from holdfast.model.instance import Status
from holdfast.runtime.result import RunResult

if TYPE_CHECKING:
    from holdfast.runtime.cluster.node import Node

LOOK_AGAIN = timedelta(seconds=1)


async def burst(node: Node, instance_id: str, limit: timedelta, above: int) -> str:
    """Until the instance neither runs nor is about to, at a version above that one; its status, also when time is over."""
    status, seen = str(Status.PENDING), -1
    with suppress(TimeoutError):
        async with asyncio.timeout(limit.total_seconds()):
            while True:
                row = await node.row(instance_id)
                status = row.status
                if row.version > above and status not in (Status.PENDING, Status.RUNNING):
                    break
                seen = await node.store.wait_for_change(seen, LOOK_AGAIN)
    return status


async def settled(node: Node, stimulus_id: str, limit: timedelta) -> bool:
    """Until this node has matched the stimulus; False if the time is over before."""
    if stimulus_id in node.post.settled:
        return True
    try:
        async with asyncio.timeout(limit.total_seconds()):
            await node.post.settled.wait(stimulus_id)
    except TimeoutError:
        return False
    return True


async def at_rest(node: Node, read: Callable[[], Awaitable[RunResult]]) -> RunResult:
    """Until what is read has ended."""
    seen = -1
    while True:
        result = await read()
        if result.status.at_rest:
            return result
        seen = await node.store.wait_for_change(seen, LOOK_AGAIN)
