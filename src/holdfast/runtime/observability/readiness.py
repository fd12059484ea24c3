"""Whether nodes of this process can do their work, and why not."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import datetime, timedelta

from holdfast.errors import HoldfastError
from holdfast.model.cluster import NodeRow, NodeState
from holdfast.runtime.cluster.node import Node

PATIENCE = timedelta(seconds=5)
"""Whoever probes does not wait for ever, while a store may be tried again and again."""


async def why_unready(nodes: Sequence[Node]) -> list[str]:
    """Nothing if all is well. The nodes are those of one store."""
    store = nodes[0].store
    try:
        async with asyncio.timeout(PATIENCE.total_seconds()):
            now = await store.now()
            rows = {row.owner: row for row in await store.list_nodes()}
    except HoldfastError as error:
        return [f"The store does not answer: {error}"]
    except TimeoutError:
        return [f"The store has not answered for {PATIENCE.total_seconds():.0f} s."]
    found = [_trouble(node, rows.get(node.owner), now) for node in nodes]
    return list(dict.fromkeys(reason for reason in found if reason))


def _trouble(node: Node, row: NodeRow | None, now: datetime) -> str:
    if row is None or not row.alive_at(now):
        return "This node is not registered, or its heartbeat is too old."
    state = row.state if node.heart.state is NodeState.LIVE else node.heart.state  # The row hears of it a beat later.
    return "" if state is NodeState.LIVE else f"This node is {state.value}: it takes no new work."
