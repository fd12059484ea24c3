"""Runs the rows of a claim inside its transaction.

The rows are locked until their commit, so no other node runs them, and a node that dies releases them at once. The transaction
that holds the locks commits the results.

An instance runs once at a time in a process (rule "One instance, once per commit"): lanes leave instances alone that a claim
runs, and a row whose instance is in a lane goes to that lane.
"""

from __future__ import annotations

from collections.abc import Iterable

from holdfast.model.stored import InstanceKey
from holdfast.ports import Claim
from holdfast.runtime.commits.batch_executor import BatchExecutor
from holdfast.runtime.commits.burst import Burst
from holdfast.runtime.commits.burst_pace import BurstPace
from holdfast.runtime.commits.in_hand import InstancesInHand
from holdfast.runtime.commits.jobs.base import Job
from holdfast.runtime.commits.lanes import Lanes


class ClaimRunner:
    def __init__(self, executor: BatchExecutor, lanes: Lanes, in_hand: InstancesInHand, pace: BurstPace) -> None:
        self._executor = executor
        self._lanes = lanes
        self._in_hand = in_hand
        self._pace = pace

    def may_run(self, key: InstanceKey) -> bool:
        """Whether neither a lane nor another claim of this process has the instance, and it does not rest."""
        return key not in self._in_hand.claimed and not self._lanes.has(key) and self._pace.rests(key) is None

    async def run(self, jobs: Iterable[Job], claim: Claim) -> None:
        bursts: dict[InstanceKey, Burst] = {}
        for job in jobs:
            bursts.setdefault(job.key, Burst(job.key, [])).jobs.append(job)
        if not bursts:
            return
        claimed = list(bursts)
        self._in_hand.claim(claimed)
        try:
            await self._executor.execute(list(bursts.values()), claim.commit)
        finally:
            self._in_hand.end_claim(claimed)
            self._lanes.look_again()
