"""Lanes: jobs of one instance share a lane and a batch; jobs that arrive during a commit are the next batch."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from time import monotonic

import pytest

from holdfast.errors import StoreError
from holdfast.model.stored import InstanceKey
from holdfast.runtime.commits import lane as lane_module
from holdfast.runtime.commits.burst import Burst
from holdfast.runtime.commits.burst_pace import BurstPace, Rest
from holdfast.runtime.commits.in_hand import InstancesInHand
from holdfast.runtime.commits.jobs.base import DROPPED, Answer, Job
from holdfast.runtime.commits.lanes import Lanes

I, J = InstanceKey("", "i"), InstanceKey("", "j")


class Executor:
    """Keeps each batch until the test lets it go."""

    def __init__(self) -> None:
        self.batches: list[list[tuple[str, int]]] = []
        self._begun = asyncio.Semaphore(0)
        self._may_end = asyncio.Semaphore(0)

    async def __call__(self, bursts: list[Burst]) -> None:
        self.batches.append([(burst.key.id, len(burst.jobs)) for burst in bursts])
        self._begun.release()
        await self._may_end.acquire()
        for burst in bursts:
            for job in burst.jobs:
                job.finish(Answer())

    async def begun(self) -> None:
        async with asyncio.timeout(30):
            await self._begun.acquire()

    def end_batch(self) -> None:
        self._may_end.release()


@asynccontextmanager
async def running(
    executor: Executor, in_hand: InstancesInHand, count: int = 1, pace: BurstPace | None = None
) -> AsyncIterator[Lanes]:
    lanes = Lanes(executor, in_hand, BurstPace() if pace is None else pace, count)
    in_hand.include(lanes.has)
    lanes.start()
    yield lanes
    executor.end_batch()
    await lanes.stop(grace=10)


async def test_waiting_jobs_are_one_batch_with_one_burst_per_instance() -> None:
    executor = Executor()
    async with running(executor, InstancesInHand()) as lanes:
        jobs = [Job(I), Job(J), Job(I)]
        for job in jobs:
            lanes.submit(job)
        await executor.begun()

        assert executor.batches == [[("i", 2), ("j", 1)]]


async def test_jobs_that_arrive_during_a_commit_are_the_next_batch() -> None:
    executor = Executor()
    async with running(executor, InstancesInHand()) as lanes:
        lanes.submit(Job(I))
        await executor.begun()
        lanes.submit(Job(I))
        lanes.submit(Job(J))
        executor.end_batch()
        await executor.begun()

        assert executor.batches == [[("i", 1)], [("i", 1), ("j", 1)]]


async def test_a_batch_has_a_maximum_of_instances(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lane_module, "BATCH_MAX", 1)
    executor = Executor()
    async with running(executor, InstancesInHand()) as lanes:
        for key in (I, I, J):
            lanes.submit(Job(key))
        await executor.begun()
        executor.end_batch()
        await executor.begun()

        assert executor.batches == [[("i", 2)], [("j", 1)]]


async def test_jobs_of_a_claimed_instance_wait_until_the_claim_ends() -> None:
    executor, in_hand = Executor(), InstancesInHand()
    in_hand.claim([I])
    async with running(executor, in_hand) as lanes:
        for key in (I, J, I):
            lanes.submit(Job(key))
        await executor.begun()
        assert executor.batches == [[("j", 1)]]

        executor.end_batch()
        in_hand.end_claim([I])
        lanes.look_again()
        await executor.begun()
        assert executor.batches == [[("j", 1)], [("i", 2)]]


async def test_an_instance_is_in_hand_until_its_last_job_is_done() -> None:
    executor, in_hand = Executor(), InstancesInHand()
    async with running(executor, in_hand) as lanes:
        lanes.submit(Job(I))
        await executor.begun()
        lanes.submit(Job(I))
        at_rest = asyncio.create_task(in_hand.watch.rest(I))
        executor.end_batch()
        await executor.begun()
        assert (lanes.has(I), lanes.has(J), lanes.busy, at_rest.done()) == (True, False, True, False)

        executor.end_batch()
        async with asyncio.timeout(30):
            await at_rest
        assert (lanes.has(I), lanes.busy) == (False, False)


async def test_two_lanes_run_at_the_same_time_and_each_instance_in_one_of_them() -> None:
    executor = Executor()
    async with running(executor, InstancesInHand(), count=2) as lanes:
        keys = [InstanceKey("", f"i{number}") for number in range(8)]
        for key in (*keys, *keys):
            lanes.submit(Job(key))
        await executor.begun()
        await executor.begun()

        first, second = executor.batches
        assert sorted(first + second) == [(key.id, 2) for key in keys]
        executor.end_batch()


async def test_ask_returns_the_answer() -> None:
    executor = Executor()
    async with running(executor, InstancesInHand()) as lanes:
        asked = asyncio.create_task(lanes.ask(Job(I)))
        await executor.begun()
        executor.end_batch()

        assert await asked == Answer()


async def test_a_caller_that_stops_waiting_does_not_stop_the_job() -> None:
    executor = Executor()
    async with running(executor, InstancesInHand()) as lanes:
        asked = asyncio.create_task(lanes.ask(Job(I)))
        await asyncio.sleep(0)
        asked.cancel()
        await executor.begun()

        assert executor.batches == [[("i", 1)]]


async def test_stop_finishes_the_batch_and_refuses_the_rest() -> None:
    executor = Executor()
    lanes = Lanes(executor, InstancesInHand(), BurstPace(), 1)
    lanes.start()
    current, waiting, late = Job(I), Job(J), Job(J)
    lanes.submit(current)
    await executor.begun()
    lanes.submit(waiting)
    stopping = asyncio.create_task(lanes.stop(grace=30))
    await asyncio.sleep(0)
    lanes.submit(late)
    executor.end_batch()
    await stopping
    lanes.refuse_waiting()

    assert [job.answer.done() for job in (current, waiting, late) if job.answer] == [True, True, True]
    assert current.answer is not None
    assert current.answer.result() != DROPPED
    for job, words in ((waiting, "was stopped before"), (late, "is stopping")):
        assert job.answer is not None
        with pytest.raises(StoreError, match=words):
            job.answer.result()
    assert executor.batches == [[("i", 1)]]


async def test_a_batch_that_does_not_end_is_canceled_after_the_grace() -> None:
    executor = Executor()
    lanes = Lanes(executor, InstancesInHand(), BurstPace(), 1)
    lanes.start()
    lanes.submit(Job(I, wants_answer=False))
    await executor.begun()

    async with asyncio.timeout(30):
        await lanes.stop(grace=0)


def rest(jobs: int) -> Rest:
    return Rest(until=monotonic() + 3600, jobs=jobs)


async def test_jobs_of_an_instance_that_rests_are_one_burst_at_the_end_of_the_rest() -> None:
    executor, pace = Executor(), BurstPace()
    async with running(executor, InstancesInHand(), pace=pace) as lanes:
        pace[I] = rest(jobs=3)
        for job in (Job(I), Job(J), Job(I)):
            lanes.submit(job)
        await executor.begun()
        executor.end_batch()
        assert lanes.has(I)
        lanes.submit(Job(I))
        await executor.begun()

        assert executor.batches == [[("j", 1)], [("i", 3)]]
        assert not pace


async def test_a_rest_is_over_after_its_time() -> None:
    executor, pace = Executor(), BurstPace()
    async with running(executor, InstancesInHand(), pace=pace) as lanes:
        pace[I] = Rest(until=monotonic() + 0.001, jobs=100)
        lanes.submit(Job(I))
        await executor.begun()

        assert executor.batches == [[("i", 1)]]


async def test_jobs_that_arrive_during_an_expensive_burst_rest_after_it() -> None:
    executor, pace = Executor(), BurstPace()
    async with running(executor, InstancesInHand(), pace=pace) as lanes:
        lanes.submit(Job(I))
        await executor.begun()
        lanes.submit(Job(I))
        pace[I] = rest(jobs=2)
        executor.end_batch()
        lanes.submit(Job(I))
        await executor.begun()

        assert executor.batches == [[("i", 1)], [("i", 2)]]


async def test_jobs_that_rest_are_refused_when_the_node_stops() -> None:
    pace = BurstPace()
    lanes = Lanes(Executor(), InstancesInHand(), pace, 1)
    pace[I] = rest(jobs=100)
    job = Job(I)
    lanes.submit(job)
    lanes.refuse_waiting()

    assert job.answer is not None
    with pytest.raises(StoreError):
        await job.answer
