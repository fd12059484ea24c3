"""A lane: takes the jobs in hand, runs their bursts in one synchronous loop, and commits them together.

One instance occurs once per batch; its jobs are applied one after the other to the same state (rule "One instance, once
per commit"). Whatever came in while a commit was under way is the next batch: no timer gathers anything. A lost guard throws
a segment away, never an effect: effects start only after their row is committed.

    take → load → run → commit → let out            and losers go round again (`losing`)
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from holdfast import telemetry
from holdfast.errors import HoldfastError, InstanceNotFound, StoreError
from holdfast.execution.live import LiveInstance
from holdfast.execution.segment import Limits
from holdfast.model.commit import COMMITTED, Commit, CommitOutcome, Committed, Failed
from holdfast.model.instance import BookmarkKind
from holdfast.model.stored import BookmarkRow, InstanceKey, InstanceRow
from holdfast.runtime.commits import after_commit
from holdfast.runtime.commits.burst import Burst, run_bursts
from holdfast.runtime.commits.conflicts import Losing, Submits
from holdfast.runtime.commits.jobs.base import Answer, Job, StartJob
from holdfast.runtime.commits.large_values import is_split
from holdfast.runtime.observability.outage_log import AWAY
from holdfast.runtime.result import RunResult

if TYPE_CHECKING:
    from holdfast.runtime.cluster.node import Node

logger = logging.getLogger("holdfast")

BATCH_MAX = 128
BATCH_BYTES_MAX = 4_000_000
RESEND_AFTER = 0.5
"""Seconds until a commit of unknown outcome is sent again. Sending it twice is safe: it carries its burst id (rule M3)."""

_ACTIVITY = BookmarkKind.ACTIVITY
_DONE = Answer()
"""For those who only want to know that it is done."""

Work = tuple[Burst, Commit]
Send = Callable[[Sequence[Commit]], Awaitable[Sequence[CommitOutcome]]]


class Lane:
    def __init__(self, node: Node, limits: Limits, back: Submits | None = None) -> None:
        """`back` gets what has to be done again; without it, this lane."""
        self.node = node
        self.limits = limits
        self._waiting: deque[Job] = deque()
        self._sleeping: asyncio.Future[None] | None = None
        """Done when there is news; a bare future, since each who is alone waits for it to wake."""
        self._in_hand: dict[str, int] = {}
        """Jobs per instance that wait here or are under way."""
        self._task: asyncio.Task[None] | None = None
        self._stopping = False
        self._back: Submits = back or self
        self._losing = Losing(node, self._back)

    # -- life ----------------------------------------------------------------------------------------------------------

    def start(self) -> None:
        self._stopping = False
        self._task = asyncio.get_running_loop().create_task(self._run(), name="holdfast-lane")

    async def stop(self, grace: float = 10.0) -> None:
        """Finish the batch under way, then end; what still waits is refused."""
        self._stopping = True
        self._wake()
        if self._task is not None:
            _, late = await asyncio.wait([self._task], timeout=grace)
            for task in late:  # The store does not answer: whether it was committed is not known.
                task.cancel()
                await asyncio.wait([task])
            self._task = None
        self._losing.stop()
        while self._waiting:
            self._waiting.popleft().refuse(StoreError("The node was stopped before this was done. Ask again."))

    @property
    def busy(self) -> bool:
        return bool(self._in_hand)

    def has(self, instance_id: str) -> bool:
        """Whether something waits here, or is under way, for that instance."""
        return instance_id in self._in_hand

    def submit(self, job: Job) -> None:
        if self._stopping:
            job.refuse(StoreError("The node is being stopped. Ask another one, or again later."))
            return
        in_hand, name = self._in_hand, job.instance_id
        in_hand[name] = in_hand.get(name, 0) + 1
        self._waiting.append(job)
        if self._sleeping is not None:
            self._wake()

    def look(self) -> None:
        """An instance that was run elsewhere is free again."""
        if self._waiting:
            self._wake()

    def _wake(self) -> None:
        sleeping, self._sleeping = self._sleeping, None
        if sleeping is not None and not sleeping.done():
            sleeping.set_result(None)

    async def _run(self) -> None:
        create_future = asyncio.get_running_loop().create_future
        while not self._stopping:
            bursts = self._take()
            if not bursts:
                self._sleeping = create_future()
                await self._sleeping
                continue
            taken = [(burst.instance_id, len(burst.jobs)) for burst in bursts]
            await self.work(bursts)
            for instance_id, jobs in taken:
                self._done(instance_id, jobs)
            # Who was answered asks again, what was begun ends: what is there within a turn of the loop comes into the
            # same batch as what queued up. Batches are twice as large then, at the price of no time at all.
            await asyncio.sleep(0)

    def _done(self, instance_id: str, jobs: int) -> None:
        left = self._in_hand[instance_id] - jobs
        if left > 0:
            self._in_hand[instance_id] = left
        else:
            del self._in_hand[instance_id]
        self.node.watching.tell(instance_id)

    def _take(self) -> list[Burst]:
        """What is in hand, grouped by instance, at most so many instances. Those that a claim runs wait for its end."""
        bursts: dict[str, Burst] = {}
        waiting, claimed = self._waiting, self.node.claimed
        later: list[Job] = []
        while waiting:
            job = waiting[0]
            if job.instance_id in claimed:
                later.append(waiting.popleft())
                continue
            burst = bursts.get(job.instance_id)
            if burst is not None:
                burst.jobs.append(job)
            elif len(bursts) < BATCH_MAX:
                bursts[job.instance_id] = Burst(job.instance_id, [job])
            else:
                break
            waiting.popleft()
        waiting.extendleft(reversed(later))
        return list(bursts.values())

    # -- one batch -----------------------------------------------------------------------------------------------------

    async def work(self, bursts: list[Burst], send: Send | None = None) -> None:
        """Everything that happens to a batch. An error reaches those who asked; the lane lives on. `send` commits it; the
        store, if none is given."""
        try:
            ready = await self._load(bursts)
            work: list[Work] = []
            for burst, commit in run_bursts(ready, self.node, self.limits, self._losing.fail):
                if commit is None:
                    self._settle(burst, None, COMMITTED)
                else:
                    work.append((burst, commit))
            for batch in _batches(work):
                await self._commit(batch, send or self.node.store.commit)
        except Exception as error:
            if not isinstance(error, HoldfastError):
                logger.exception("a lane's batch failed")
            for burst in bursts:
                for job in (*burst.jobs, *burst.unsure):
                    self._losing.fail(job, error)

    async def _load(self, bursts: list[Burst]) -> list[Burst]:
        node = self.node
        missing = []
        hot = node.hot
        for burst in bursts:
            jobs = burst.jobs
            if isinstance(jobs[0], StartJob):
                continue
            sure = jobs[0].sure if len(jobs) == 1 else any(job.sure for job in jobs)
            if not sure and (row := hot.get(burst.instance_id)) is not None:
                burst.row, burst.hot = row, True
            else:
                missing.append(burst)
        if missing:
            keys = [InstanceKey(node.tenant, burst.instance_id) for burst in missing]
            loaded = await node.store.load(keys)
            node.pins.current.saw(loaded.epoch)
            for burst, key in zip(missing, keys, strict=True):
                burst.row = loaded.instances.get(key)
        return [burst for burst in bursts if self._has_plan(burst) or await self._find_plan(burst)]

    def _has_plan(self, burst: Burst) -> bool:
        """Whether it can run as it is, without another question to the store."""
        row = burst.row
        if row is None:
            return isinstance(burst.jobs[0], StartJob)
        burst.plan = self.node.pins.at_hand(row.content)
        return burst.plan is not None and not is_split(row.state)

    async def _find_plan(self, burst: Burst) -> bool:
        try:
            if burst.row is None:
                raise InstanceNotFound(burst.instance_id)
            burst.plan = await self.node.pins.plan(burst.row.content)
            burst.values = await self.node.values_of(burst.row)
        except HoldfastError as error:  # One that cannot be run does not keep its neighbours from running.
            jobs, burst.jobs = burst.jobs, []
            for job in jobs:
                self._losing.fail(job, error)
            return False
        return True

    async def _commit(self, batch: list[Work], send: Send) -> None:
        commits = [commit for _, commit in batch]
        while True:
            try:
                outcomes = await send(commits)
                break
            except AWAY as error:
                # Whether it was written is not known. Who asked hears so; the same commit is sent again until it is known:
                # guessing would run an effect twice or never.
                self.node.outage.warn("a commit could not be written yet")
                for burst, _ in batch:
                    for job in burst.applied:
                        job.refuse(error)
                await asyncio.sleep(RESEND_AFTER)
        for (burst, commit), outcome in zip(batch, outcomes, strict=True):
            self._settle(burst, commit, outcome)

    # -- afterwards ----------------------------------------------------------------------------------------------------

    def _settle(self, burst: Burst, commit: Commit | None, outcome: CommitOutcome) -> None:
        left = (*burst.unsure, *burst.left) if burst.unsure or len(burst.jobs) > len(burst.applied) else ()
        burst.jobs, burst.unsure = [], []
        if isinstance(outcome, Committed):
            self._let_out(burst, commit)
        elif isinstance(outcome, Failed):
            self.node.forget(burst.instance_id)
            for job in burst.applied:
                self._losing.fail(job, outcome.error)
        else:
            self._losing.lost(burst, outcome)
        for job in left:
            self._back.submit(job)

    def _let_out(self, burst: Burst, commit: Commit | None) -> None:
        """Committed: only now may it be seen, heard and felt outside."""
        live = burst.live
        if live is None or not burst.applied:
            return
        lines, version = live.lines, 0
        if burst.changed:
            if lines:
                live.lines = []
            if telemetry.listeners:
                after_commit.tell(burst, live)
            if self.node.listeners:
                self.node.print_lines(live, lines)
            if live.new_effects or live.canceled_effects:
                self.node.effects.start(live)
            if commit is not None and commit.instance is not None:
                version = commit.instance.version
                self._follow(live, commit, commit.instance)
        else:
            lines = []
        answer = _DONE
        for job in burst.applied:
            if job.answer is not None and answer is _DONE:
                answer = Answer(RunResult(live, lines, {}), None, not burst.changed, version)
            job.tell(answer)

    def _follow(self, live: LiveInstance, commit: Commit, row: InstanceRow) -> None:
        """What a committed instance leaves for this node to do."""
        node = self.node
        node.keep_hot(row)
        if commit.values_added:
            node.keep_values(commit.values_added)
        if commit.effects_added:
            node.steps.send(live, row, commit.effects_added)
        if commit.work_added:
            node.uptake.take_own(commit.work_added)
        if row.finished is not None:
            node.post.ended(live.id)
            node.watching.ended(row)
        if commit.bookmarks_added:
            node.post.parked(_waiting(live, commit))


def _waiting(live: LiveInstance, commit: Commit) -> list[BookmarkRow]:
    """New bookmarks that a stimulus may have come for before they were there (rule H7)."""
    marks = live.bookmarks
    return [row for row in commit.bookmarks_added if marks[f"b{row.seq}"].kind is _ACTIVITY]


def _batches(work: list[Work]) -> Iterator[list[Work]]:
    """At most so many bytes in one transaction; one that is larger goes alone."""
    batch: list[Work] = []
    size = 0
    for item in work:
        commit = item[1]
        weight = 0 if commit.instance is None else len(commit.instance.state)
        if batch and size + weight > BATCH_BYTES_MAX:
            yield batch
            batch, size = [], 0
        batch.append(item)
        size += weight
    if batch:
        yield batch
