"""Nodes on this machine that died a moment ago (rule H15).

A process that is started again has another node name unless its operator gave it one, and the lease of the dead process
still runs. Without a look at the processes of this machine it would take the work that killed its predecessor, uncounted.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta

from holdfast.model.cluster import NodeRow, NodeState
from holdfast.model.node_details import NodeDetails, read_details

RECENT = timedelta(minutes=1)
"""Time after the end of its lease in which a dead node matters."""


def is_running(pid: int) -> bool:
    """Whether a process of this machine has this id."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:  # It belongs to another user.
        return True
    return True


def neighbour_died(
    nodes: Iterable[NodeRow], own: NodeDetails, now: datetime, runs: Callable[[int], bool] = is_running
) -> bool:
    """Whether a node of this machine that served one of our tenants ended without signing off."""
    return any(_died(node, own, now, runs) for node in nodes)


def _died(node: NodeRow, own: NodeDetails, now: datetime, runs: Callable[[int], bool]) -> bool:
    if node.state is NodeState.LEFT or node.heartbeat + node.time_to_live + RECENT < now:
        return False
    found = read_details(node.details)
    if found.host != own.host or found.pid <= 0:
        return False
    ours = own.tenants or (() if own.tenant is None else (own.tenant,))
    return any(map(found.serves, ours)) and not runs(found.pid)
