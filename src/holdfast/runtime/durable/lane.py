"""A lane: takes the jobs in hand, runs their bursts in one synchronous loop, and commits them together.

One instance occurs once per batch; its jobs are applied one after the other to the same state (KERNEL: "One instance, once
per commit"). Whatever came in while a commit was under way is the next batch: no timer gathers anything. A lost guard throws
a segment away, never an effect: effects start only after their row is committed.

    take → load → run → commit → let out            and losers go round again
"""

from __future__ import annotations

import asyncio
import contextvars
from collections import deque
from typing import TYPE_CHECKING

from msgspec import Struct

from holdfast.errors import HoldfastError, InstanceNotFound, StoreError
from holdfast.execution.live import LiveInstance
from holdfast.execution.segment import Ended, Limits, run_segment
from holdfast.model.commit import Commit, CommitOutcome, Committed, Failed, Loss, Lost
from holdfast.model.stored import InstanceKey, InstanceRow
from holdfast.runtime.durable.changes import NEW, Before, Consumed, remember
from holdfast.runtime.durable.encoding import decode_state
from holdfast.runtime.durable.jobs import LOST_CHECKS_MAX, Answer, ContinueJob, Job, StartJob
from holdfast.runtime.result import RunResult

if TYPE_CHECKING:
    from holdfast.runtime.durable.node import Node

BATCH_MAX = 128


class Burst(Struct, kw_only=True):
    """One instance in a batch: its jobs, its state, and what becomes of it."""

    instance_id: str
    jobs: list[Job]
    live: LiveInstance | None = None
    content: str = ""
    before: Before = NEW
    applied: list[Job] = []
    go_on: str | None = None


class Lane:
    def __init__(self, node: Node, limits: Limits) -> None:
        self.node = node
        self.limits = limits
        self._waiting: deque[Job] = deque()
        self._news = asyncio.Event()
        self._under_way: set[str] = set()
        self._task: asyncio.Task[None] | None = None

    # -- life ----------------------------------------------------------------------------------------------------------

    def start(self) -> None:
        self._task = asyncio.get_running_loop().create_task(self._run(), name="holdfast-lane")

    async def stop(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])
        while self._waiting:
            self._waiting.popleft().refuse(StoreError("The node was stopped before this was done. Ask again."))

    def has(self, instance_id: str) -> bool:
        """Whether something waits here, or is under way, for that instance."""
        return instance_id in self._under_way or any(job.instance_id == instance_id for job in self._waiting)

    def submit(self, job: Job) -> None:
        self._waiting.append(job)
        self._news.set()

    async def _run(self) -> None:
        while True:
            if not self._waiting:
                self._news.clear()
                await self._news.wait()
            bursts = self._take()
            self._under_way = {burst.instance_id for burst in bursts}
            await self.work(bursts)
            done, self._under_way = self._under_way, set()
            for instance_id in done:
                self.node.tell_watchers(instance_id)

    def _take(self) -> list[Burst]:
        """What is in hand, grouped by instance, at most so many instances."""
        bursts: dict[str, Burst] = {}
        waiting, kept = self._waiting, []
        while waiting:
            job = waiting.popleft()
            burst = bursts.get(job.instance_id)
            if burst is not None:
                burst.jobs.append(job)
            elif len(bursts) < BATCH_MAX:
                bursts[job.instance_id] = Burst(instance_id=job.instance_id, jobs=[job])
            else:
                kept.append(job)
                break
        waiting.extendleft(reversed(kept))
        return list(bursts.values())

    # -- one batch -----------------------------------------------------------------------------------------------------

    async def work(self, bursts: list[Burst]) -> None:
        """Everything that happens to a batch. An error of the store reaches those who asked; the lane lives on."""
        try:
            ready = await self._load(bursts)
            commits = [self._burst(burst) for burst in ready]
            done = [(burst, commit) for burst, commit in zip(ready, commits, strict=True) if commit is not None]
            if done:
                outcomes = await self.node.store.commit([commit for _, commit in done])
                for (burst, commit), outcome in zip(done, outcomes, strict=True):
                    self._settle(burst, commit, outcome)
        except HoldfastError as error:
            for burst in bursts:
                for job in burst.jobs:
                    job.refuse(error)

    async def _load(self, bursts: list[Burst]) -> list[Burst]:
        node = self.node
        missing = [
            InstanceKey(node.tenant, burst.instance_id)
            for burst in bursts
            if not isinstance(burst.jobs[0], StartJob) and burst.instance_id not in node.hot
        ]
        found: dict[str, InstanceRow] = {}
        if missing:
            loaded = await node.store.load(missing)
            found = {key.id: row for key, row in loaded.instances.items()}
        return [burst for burst in bursts if await self._prepare(burst, found)]

    async def _prepare(self, burst: Burst, found: dict[str, InstanceRow]) -> bool:
        first = burst.jobs[0]
        if isinstance(first, StartJob):
            burst.live, burst.content, burst.before = first.make(), first.content, NEW
            return True
        row = self.node.hot.get(burst.instance_id) or found.get(burst.instance_id)
        if row is None:
            for job in burst.jobs:
                job.refuse(InstanceNotFound(burst.instance_id))
            return False
        plan = self.node.pins.known(row.content) or await self.node.pins.plan(row.content)
        live = decode_state(row.state, plan, self.node.clock.now_ns, self.node.services)
        live.new_effects = []  # Open effects run elsewhere already; only those of this segment are new.
        burst.live, burst.content, burst.before = live, row.content, remember(live, row.version)
        return True

    def _burst(self, burst: Burst) -> Commit | None:
        """Apply the jobs and run; None if nothing of it holds."""
        live = burst.live
        assert live is not None
        burst.applied = []
        context = contextvars.Context()
        while burst.jobs and burst.go_on is None:
            job = burst.jobs.pop(0)
            try:
                job.apply(live)
            except HoldfastError as error:
                job.refuse(error)
                continue
            burst.applied.append(job)
            if context.run(run_segment, live, self.limits) is not Ended.IDLE:
                burst.go_on = f"{live.id}.c{burst.before.version + 1}"
        if not burst.applied:
            return None
        return self.node.maker.commit(
            live,
            burst.before,
            _consumed(burst.applied),
            burst_id=self.node.next_id(),
            content=burst.content,
            go_on=burst.go_on,
        )

    # -- afterwards ----------------------------------------------------------------------------------------------------

    def _settle(self, burst: Burst, commit: Commit, outcome: CommitOutcome) -> None:
        if isinstance(outcome, Committed):
            self._let_out(burst, commit)
        elif isinstance(outcome, Failed):
            self.node.forget(burst.instance_id)
            for job in burst.applied:
                job.refuse(outcome.error)
        else:
            self._lost(burst, outcome)
        for job in burst.jobs:
            self.submit(job)

    def _let_out(self, burst: Burst, commit: Commit) -> None:
        """Committed: only now may it be seen, heard and felt outside."""
        live = burst.live
        assert live is not None
        assert commit.instance is not None
        self.node.keep_hot(commit.instance)
        lines, live.lines = live.lines, []
        for job in burst.applied:
            if job.on_line is not None:
                for line in lines:
                    job.on_line(line)
        self.node.start_effects(live)
        self.node.follow_up(commit)
        result = RunResult(live, lines, {})
        for job in burst.applied:
            job.tell(Answer(result=result))
        if burst.go_on is not None:
            self.submit(ContinueJob(burst.instance_id, wanted=False, consumes_work=burst.go_on))

    def _lost(self, burst: Burst, outcome: Lost) -> None:
        """Nothing was written. Answer with the holder, drop what somebody else did, or go round again."""
        self.node.forget(burst.instance_id)
        for job in burst.applied:
            job.tries += 1
            if outcome.reason in (Loss.KEY, Loss.SLOT, Loss.EXISTS):
                job.tell(Answer(existing=outcome.holder or burst.instance_id))
            elif _did_somebody_else(job, outcome):
                job.tell(Answer(dropped=True))
            elif job.tries > LOST_CHECKS_MAX and job.answer is not None:
                job.refuse(StoreError(f"Instance {burst.instance_id} changed {job.tries} times meanwhile. Ask again."))
            else:
                self.submit(job)


def _consumed(jobs: list[Job]) -> Consumed:
    guards = [guard for job in jobs if isinstance(job, StartJob) for guard in job.guards]
    return Consumed(
        work=[job.consumes_work for job in jobs if job.consumes_work is not None],
        effects=[job.consumes_effect for job in jobs if job.consumes_effect is not None],
        guards=guards,
    )


def _did_somebody_else(job: Job, outcome: Lost) -> bool:
    if outcome.reason is Loss.WORK:
        return job.consumes_work == outcome.name
    if outcome.reason is Loss.EFFECT:
        return job.consumes_effect is not None and str(job.consumes_effect.execution) == outcome.name
    return False
