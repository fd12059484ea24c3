"""Nodes of a cluster: one row with a heartbeat each, by the clock of the database."""

from __future__ import annotations

from datetime import datetime, timedelta
from enum import StrEnum

from msgspec import Struct

from holdfast.errors import StoreError
from holdfast.model.ids import WORKERS
from holdfast.model.work import Owner


class NodeState(StrEnum):
    LIVE = "live"
    DRAINING = "draining"
    """Accepts no new work but still owns its effects."""
    LEFT = "left"
    """Signed off."""


class NodeRow(Struct, frozen=True, kw_only=True):
    id: str
    boot: int
    """Unique among all starts of all nodes. Id and boot number together own effects."""
    worker: int
    """Worker number for the id generator; unique among live nodes."""
    state: NodeState = NodeState.LIVE
    started: datetime
    heartbeat: datetime
    time_to_live: timedelta
    details: bytes = b""
    """Host, process, version, queues: for operators."""

    @property
    def owner(self) -> Owner:
        return Owner(self.id, self.boot)

    def alive_at(self, now: datetime) -> bool:
        return self.state is not NodeState.LEFT and self.heartbeat + self.time_to_live > now


class Registration(Struct, frozen=True, kw_only=True):
    """Result of the registration of a node."""

    node: NodeRow
    predecessor_died: bool
    """The previous process of this node died without signing off: quarantine its work (rule H15)."""


def free_worker(taken: set[int], boot: int) -> int:
    """A worker number that no live node has. The search starts at the boot number, so that numbers are not reused soon."""
    for step in range(WORKERS):
        worker = (boot + step) % WORKERS
        if worker not in taken:
            return worker
    raise StoreError(
        f"All {WORKERS} worker numbers are taken by live nodes. Stop some nodes, or wait until dead nodes expire."
    )
