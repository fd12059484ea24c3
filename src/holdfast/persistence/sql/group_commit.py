"""Group commit: batches that arrive while all lanes are busy are committed together. No timer delays a lone caller.

Each lane runs one commit at a time. A queued batch is committed in a task of the lane, so a caller that is canceled
never cancels the commit of another caller. `inline` lanes commit in the caller's task while a lane is free: two turns of
the event loop less for a lone caller, but canceling that caller breaks its connection. The commit is then stored as a
whole or not at all.

The writer thread of SQLite is a lane outside the event loop (`sqlite/writer.py`). It uses the same grouping.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence

from holdfast.model.commit import Commit, CommitOutcome
from holdfast.persistence.sql.commit_grouping import Grouping, commits_of, split

LANES = 2


class _Job:
    """One caller's batch in the queue."""

    __slots__ = ("batch", "future", "size", "versions")

    def __init__(self, batch: Sequence[Commit], grouping: Grouping) -> None:
        self.batch = batch
        self.future: asyncio.Future[Sequence[CommitOutcome]] = asyncio.get_running_loop().create_future()
        self.versions, self.size = grouping.measure(batch)


class GroupCommit:
    """`commit` writes a batch and returns one outcome per commit; at most `lanes` calls of it run at once."""

    def __init__(
        self,
        commit: Callable[[Sequence[Commit]], Awaitable[Sequence[CommitOutcome]]],
        grouping: Grouping,
        *,
        lanes: int = LANES,
        inline: bool,
    ) -> None:
        self._commit = commit
        self._grouping = grouping
        self._lanes = lanes
        self._inline = inline
        self._waiting: deque[_Job] = deque()
        self._running = 0
        """Lanes that will still look at the queue. A set of tasks would be wrong: done callbacks run late."""
        self._idle: asyncio.Future[None] | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    async def submit(self, batch: Sequence[Commit]) -> Sequence[CommitOutcome]:
        if self._running >= self._lanes or not self._inline:
            job = _Job(batch, self._grouping)
            self._waiting.append(job)
            if self._running < self._lanes:
                self._running += 1
                self._start_lane()
            return await job.future
        self._running += 1
        try:
            return await self._commit(batch)
        finally:
            if self._waiting:
                self._start_lane()
            else:
                self._leave()

    async def close(self) -> None:
        """Wait until every submitted batch is committed."""
        while self._running:
            self._idle = asyncio.get_running_loop().create_future()
            await self._idle

    def _start_lane(self) -> None:
        task = asyncio.get_running_loop().create_task(self._drain(), name="holdfast-group-commit")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _leave(self) -> None:
        self._running -= 1
        if not self._running and self._idle is not None and not self._idle.done():
            self._idle.set_result(None)

    async def _drain(self) -> None:
        try:
            while self._waiting:
                await self._commit_group(self._grouping.next_group(self._waiting))
        finally:
            self._leave()

    async def _commit_group(self, group: Sequence[_Job]) -> None:
        try:
            outcomes = await self._commit(commits_of(group))
        except BaseException as error:
            _fail(group, error)
            if not isinstance(error, Exception):
                raise
            return
        for job, own in split(group, outcomes):
            if not job.future.done():  # The caller may have been canceled.
                job.future.set_result(own)


def _fail(group: Sequence[_Job], error: BaseException) -> None:
    """Every caller of the group gets the error. A canceled lane cancels its callers."""
    for job in group:
        if not job.future.done():
            if isinstance(error, Exception):
                job.future.set_exception(error)
            else:
                job.future.cancel()
