"""Readiness of this process: whether its nodes take work, and the reasons why not."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import datetime, timedelta

from holdfast.errors import HoldfastError
from holdfast.model.cluster import NodeRow, NodeState
from holdfast.ports import Store
from holdfast.runtime.liveness import Liveness
from holdfast.runtime.membership import Membership

STORE_TIMEOUT = timedelta(seconds=5)
"""A probe waits no longer for the store, while the store itself may retry for longer."""


async def why_unready(store: Store, members: Sequence[tuple[Membership, Liveness]]) -> list[str]:
    """The reasons why nodes of this process take no work; empty if all are ready. The nodes share the store."""
    try:
        async with asyncio.timeout(STORE_TIMEOUT.total_seconds()):
            now = await store.now()
            rows = {row.owner: row for row in await store.list_nodes()}
    except HoldfastError:  # Probes are open to everyone: addresses are for the log, which tells of outages.
        return ["The store does not answer. The log has the details."]
    except TimeoutError:
        return [f"The store has not answered for {STORE_TIMEOUT.total_seconds():.0f} s."]
    found = [_reason(liveness, rows.get(membership.owner), now) for membership, liveness in members]
    return list(dict.fromkeys(reason for reason in found if reason))


def _reason(liveness: Liveness, row: NodeRow | None, now: datetime) -> str:
    if row is None or not row.alive_at(now):
        return "This node is not registered, or its heartbeat is too old."
    # The row learns a change of the state with the next heartbeat.
    state = row.state if liveness.state is NodeState.LIVE else liveness.state
    return "" if state is NodeState.LIVE else f"This node is {state.value}: it takes no new work."
