"""Nodes of this machine that died."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta

import pytest
from msgspec.structs import replace

from holdfast.model.cluster import NodeRow, NodeState
from holdfast.model.node_details import NodeDetails
from holdfast.runtime.cluster.neighbours import RECENT, is_running, neighbour_died

NOW = datetime(2026, 1, 1, tzinfo=UTC)
OWN = NodeDetails(host="here", pid=2, tenant="t")
DEAD = NodeRow(
    id="dead",
    boot=1,
    worker=1,
    started=NOW,
    heartbeat=NOW,
    time_to_live=timedelta(seconds=30),
    details=NodeDetails(host="here", pid=7, tenant="t").encoded(),
)


def test_a_node_whose_process_is_gone_has_died() -> None:
    assert neighbour_died([DEAD], OWN, NOW, lambda pid: pid != 7)
    assert not neighbour_died([DEAD], OWN, NOW, lambda pid: True)


@pytest.mark.parametrize(
    "node",
    [
        replace(DEAD, state=NodeState.LEFT),
        replace(DEAD, heartbeat=NOW - timedelta(seconds=31) - RECENT),
        replace(DEAD, details=NodeDetails(host="elsewhere", pid=7, tenant="t").encoded()),
        replace(DEAD, details=NodeDetails(host="here", pid=7, tenant="other").encoded()),
        replace(DEAD, details=b"of another version"),
    ],
    ids=["left", "long ago", "other machine", "other tenant", "unknown"],
)
def test_others_do_not_matter(node: NodeRow) -> None:
    assert not neighbour_died([node], OWN, NOW, lambda pid: False)


def test_one_common_tenant_is_enough() -> None:
    own = NodeDetails(host="here", pid=2, tenant="a", tenants=("a", "t"))
    assert neighbour_died([DEAD], own, NOW, lambda pid: False)


def test_this_process_runs() -> None:
    assert is_running(os.getpid())
