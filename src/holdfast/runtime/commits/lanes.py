"""The lanes of a node. All jobs of an instance go through one lane, so that an instance runs once at a time."""

from __future__ import annotations

from zlib import crc32

from holdfast.model.stored import InstanceKey
from holdfast.runtime.commits.burst_pace import BurstPace
from holdfast.runtime.commits.in_hand import InstancesInHand
from holdfast.runtime.commits.jobs.base import Answer, Job
from holdfast.runtime.commits.lane import Execute, Lane


class Lanes:
    def __init__(self, execute: Execute, in_hand: InstancesInHand, pace: BurstPace, count: int) -> None:
        self._lanes = [Lane(execute, in_hand, pace) for _ in range(count)]

    def start(self) -> None:
        for lane in self._lanes:
            lane.start()

    async def stop(self, grace: float) -> None:
        for lane in self._lanes:
            await lane.stop(grace)

    def refuse_waiting(self) -> None:
        for lane in self._lanes:
            lane.refuse_waiting()

    @property
    def busy(self) -> bool:
        return any(lane.busy for lane in self._lanes)

    def has(self, key: InstanceKey) -> bool:
        return self._of(key).has(key)

    def submit(self, job: Job) -> None:
        """Queue a job; its answer comes after its commit."""
        self._of(job.key).submit(job)

    async def ask(self, job: Job) -> Answer:
        """Queue a job and wait for its commit. A caller that stops waiting cancels the answer, not the job (rule M1)."""
        assert job.answer is not None
        self._of(job.key).submit(job)
        return await job.answer

    def look_again(self) -> None:
        """Instances that a claim ran are free again."""
        for lane in self._lanes:
            lane.look_again()

    def _of(self, key: InstanceKey) -> Lane:
        return self._lanes[crc32(key.id.encode()) % len(self._lanes)]
