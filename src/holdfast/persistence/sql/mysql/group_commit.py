"""Group commit: what comes while the lanes are busy is the next batch. No timer gathers.

Batches of several callers go together up to 128 commits and a limit of bytes. Callers who race for the same version of an
instance are judged together, so that its losers cost nothing; of two versions of one instance, one waits.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence

from holdfast.model.commit import Commit, CommitOutcome
from holdfast.model.stored import InstanceKey

LANES = 2
BATCH_MAX = 128
BATCH_BYTES_MAX = 4_000_000

RunBatch = Callable[[Sequence[Commit]], Awaitable[list[CommitOutcome]]]


class CommitJob:
    __slots__ = ("answer", "batch", "size", "versions")

    def __init__(self, batch: Sequence[Commit]) -> None:
        self.batch = batch
        self.answer: asyncio.Future[list[CommitOutcome]] = asyncio.get_running_loop().create_future()
        rows = [commit.instance for commit in batch if commit.instance is not None]
        self.versions = {InstanceKey(row.tenant, row.id): row.version for row in rows}
        self.size = sum(map(size_of, batch))


def size_of(commit: Commit) -> int:
    """About how many bytes a commit writes."""
    parts = (
        () if commit.instance is None else (commit.instance.state,),
        () if commit.journal is None else (commit.journal.data,),
        (row.data for row in commit.values_added),
        (row.inputs for row in commit.effects_added),
        (row.payload for row in commit.bookmarks_added),
        (row.payload for row in commit.work_added),
        (row.payload for row in commit.inbox_added),
        (row.payload for row in commit.outbox_added),
    )
    return sum(len(data) for part in parts for data in part)


class Lanes:
    def __init__(self, run: RunBatch) -> None:
        self._run = run
        self._waiting: deque[CommitJob] = deque()
        self._lanes: set[asyncio.Task[None]] = set()

    async def commit(self, batch: Sequence[Commit]) -> list[CommitOutcome]:
        job = CommitJob(batch)
        self._waiting.append(job)
        if len(self._lanes) < LANES:
            lane = asyncio.get_running_loop().create_task(self._work())
            self._lanes.add(lane)
            lane.add_done_callback(self._lanes.discard)
        return await job.answer

    async def finished(self) -> None:
        """Until nothing is under way."""
        while self._lanes:
            await asyncio.wait(set(self._lanes))

    async def _work(self) -> None:
        while self._waiting:
            group = next_group(self._waiting)
            try:
                outcomes = await self._run([commit for job in group for commit in job.batch])
            except BaseException as error:
                for job in group:
                    if not job.answer.done():
                        job.answer.set_exception(
                            error if isinstance(error, Exception) else InterruptedError(str(error))
                        )
                if not isinstance(error, Exception):
                    raise
                continue
            for job in group:
                if not job.answer.done():  # its caller may have gone away
                    job.answer.set_result(outcomes[: len(job.batch)])
                outcomes = outcomes[len(job.batch) :]


def next_group(waiting: deque[CommitJob]) -> list[CommitJob]:
    """Take jobs that may go together; the others keep their order."""
    group: list[CommitJob] = []
    left: list[CommitJob] = []
    versions: dict[InstanceKey, int] = {}
    count = size = 0
    while waiting and count < BATCH_MAX:
        job = waiting.popleft()
        fits = count + len(job.batch) <= BATCH_MAX and size + job.size <= BATCH_BYTES_MAX
        if group and not (fits and _agree(job.versions, versions)):
            left.append(job)
            continue
        group.append(job)
        versions |= job.versions
        count += len(job.batch)
        size += job.size
    waiting.extendleft(reversed(left))
    return group


def _agree(versions: Mapping[InstanceKey, int], others: Mapping[InstanceKey, int]) -> bool:
    return all(others.get(key, version) == version for key, version in versions.items())
