"""Runs the rows of a claim inside it: until their commit they are locked, so no other node runs them too, and a node that
dies gives them back at once. The transaction that holds them is the one that commits what came of them.

An instance occurs once in a process (rule "One instance, once per commit"): lanes leave those alone that are run here, and
a row whose instance a lane is at goes to that lane.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from holdfast.execution.segment import Limits
from holdfast.ports import Claim
from holdfast.runtime.commits.burst import Burst
from holdfast.runtime.commits.jobs.base import Job
from holdfast.runtime.commits.lane import Lane

if TYPE_CHECKING:
    from holdfast.runtime.cluster.node import Node


class ClaimedRuns:
    def __init__(self, node: Node, limits: Limits) -> None:
        self._node = node
        self._lane = Lane(node, limits, back=node)
        """Only its way of working on a batch: what loses goes back to the lane of its instance."""

    def may_run(self, instance_id: str) -> bool:
        """Whether no lane and no other claim of this process is at it."""
        return instance_id not in self._node.claimed and not self._node.lane_of(instance_id).has(instance_id)

    async def run(self, jobs: Iterable[Job], claim: Claim) -> None:
        node = self._node
        bursts: dict[str, Burst] = {}
        for job in jobs:
            bursts.setdefault(job.instance_id, Burst(instance_id=job.instance_id, jobs=[])).jobs.append(job)
        if not bursts:
            return
        held = list(bursts)
        node.keep_claimed(held)
        try:
            await self._lane.work(list(bursts.values()), claim.commit)
        finally:
            node.free_claimed(held)
