"""Nodes of a cluster: one row and one heartbeat each, by the database's clock."""

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
    """Takes no new work; its effects are still its own."""
    LEFT = "left"
    """Said goodbye."""


class NodeRow(Struct, frozen=True, kw_only=True):
    id: str
    boot: int
    """A number that no other life of any node has: with the id it is the owner of effects."""
    worker: int
    """For the id generator; no other live node has it."""
    state: NodeState = NodeState.LIVE
    started: datetime
    heartbeat: datetime
    time_to_live: timedelta
    details: bytes = b""
    """Host, process, version, queues: for people."""

    @property
    def owner(self) -> Owner:
        return Owner(self.id, self.boot)

    def alive_at(self, now: datetime) -> bool:
        return self.state is not NodeState.LEFT and self.heartbeat + self.time_to_live > now


class Registration(Struct, frozen=True, kw_only=True):
    """What a node learns when it registers."""

    node: NodeRow
    predecessor_died: bool
    """The life before this one on the same node ended without goodbye: work carefully (rule H15)."""


def free_worker(taken: set[int], boot: int) -> int:
    """A worker number that no live node has; starts at the boot's own, so that a number is not given again soon."""
    for step in range(WORKERS):
        worker = (boot + step) % WORKERS
        if worker not in taken:
            return worker
    raise StoreError(
        f"All {WORKERS} worker numbers are taken by live nodes. Stop some, or wait until dead ones expire."
    )
