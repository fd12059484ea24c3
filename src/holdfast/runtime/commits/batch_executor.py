"""Executes batches of bursts: load, run, commit, publish.

One instance occurs once per batch (rule "One instance, once per commit"). A conflict discards a segment, never an effect:
effects start only after their row is committed. Jobs whose commit had a conflict follow their policy (`conflicts.py`).
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence

from holdfast import telemetry
from holdfast.errors import HoldfastError, InstanceNotFound, StoreError
from holdfast.execution.heap import HeapBook
from holdfast.execution.live import LiveInstance
from holdfast.model.commit import COMMITTED, Commit, CommitOutcome, Committed, Failed
from holdfast.model.instance import BookmarkKind
from holdfast.model.stored import BookmarkRow, InstanceKey, InstanceRow
from holdfast.ports import Store
from holdfast.runtime.commits import after_commit
from holdfast.runtime.commits.burst import Burst, BurstRunner
from holdfast.runtime.commits.burst_pace import BurstPace
from holdfast.runtime.commits.commit_hooks import CommitHooks
from holdfast.runtime.commits.conflicts import Conflicts
from holdfast.runtime.commits.console_lines import ConsoleLines
from holdfast.runtime.commits.instance_cache import InstanceCache
from holdfast.runtime.commits.instance_watch import InstanceWatch
from holdfast.runtime.commits.jobs.base import Answer, Job
from holdfast.runtime.commits.jobs.start import StartJob
from holdfast.runtime.commits.large_values import is_split
from holdfast.runtime.commits.suspended_bursts import SuspendedBursts
from holdfast.runtime.observability.outage_log import AWAY, OutageLog
from holdfast.runtime.plans.plans import Plans
from holdfast.runtime.result import RunResult

logger = logging.getLogger("holdfast")

BATCH_BYTES_MAX = 4_000_000
"""Bytes of state in one transaction; a larger state is committed alone."""
RESEND_SECONDS = 0.5
"""Pause until a commit of unknown outcome is sent again. Sending twice is safe: a commit carries its burst id (rule M3)."""

_ACTIVITY = BookmarkKind.ACTIVITY
_DONE = Answer()
"""The answer of jobs that have no future."""

Send = Callable[[Sequence[Commit]], Awaitable[Sequence[CommitOutcome]]]
_Work = tuple[Burst, Commit]


class BatchExecutor:
    hooks: CommitHooks
    """Set by the node before the first batch."""

    def __init__(
        self,
        store: Store,
        cache: InstanceCache,
        plans: Plans,
        runner: BurstRunner,
        watch: InstanceWatch,
        lines: ConsoleLines,
        conflicts: Conflicts,
        pace: BurstPace,
        log: OutageLog,
        suspended: SuspendedBursts,
    ) -> None:
        self._store = store
        self._cache = cache
        self._plans = plans
        self._runner = runner
        self._watch = watch
        self._lines = lines
        self._conflicts = conflicts
        self._pace = pace
        self._log = log
        self._suspended = suspended

    async def execute(self, bursts: list[Burst], send: Send | None = None) -> None:
        """Execute one batch. An error reaches the callers of its jobs and is not raised here. `send` commits the batch;
        without it the store does."""
        try:
            ready = await self._load(bursts)
            work: list[_Work] = []
            for burst, commit in self._runner.run(ready, self._conflicts.fail):
                if commit is None:
                    self._settle(burst, None, COMMITTED)
                else:
                    work.append((burst, commit))
            for burst in ready:
                if burst.suspended is not None:
                    bursts.remove(burst)
                    self._suspended.add(burst.key, self._finish(burst))
            for batch in _batches(work):
                await self._commit(batch, send or self._store.commit)
        except Exception as error:  # noqa: BLE001 - every caller gets it
            self._failed(bursts, error)

    async def _finish(self, burst: Burst) -> None:
        """Run the rest of a suspended burst, and commit it alone."""
        try:
            commit = await self._runner.finish(burst, self._conflicts.fail)
            if commit is None:
                self._settle(burst, None, COMMITTED)
            else:
                await self._commit([(burst, commit)], self._store.commit)
        except asyncio.CancelledError:
            self._failed([burst], StoreError("The node was stopped before the request was executed. Send it again."))
            raise
        except Exception as error:  # noqa: BLE001 - every caller gets it
            self._failed([burst], error)

    def _failed(self, bursts: Iterable[Burst], error: Exception) -> None:
        if not isinstance(error, HoldfastError):
            logger.error("a batch failed", exc_info=error)
        for burst in bursts:
            for job in (*burst.jobs, *burst.unsure):
                self._conflicts.fail(job, error)

    # -- load ----------------------------------------------------------------------------------------------------------

    async def _load(self, bursts: list[Burst]) -> list[Burst]:
        missing = []
        cached = self._cache.get
        for burst in bursts:
            jobs = burst.jobs
            if isinstance(jobs[0], StartJob):
                continue
            from_store = jobs[0].from_store if len(jobs) == 1 else any(job.from_store for job in jobs)
            if not from_store and (row := cached(burst.key)) is not None:
                burst.row, burst.cached = row, True
            else:
                missing.append(burst)
        if missing:
            loaded = await self._store.load([burst.key for burst in missing])
            self._plans.saw_epoch(loaded.epoch)
            for burst in missing:
                burst.row = loaded.instances.get(burst.key)
        return [burst for burst in bursts if self._has_plan(burst) or await self._find_plan(burst)]

    def _has_plan(self, burst: Burst) -> bool:
        """Whether the burst can run without another query."""
        row = burst.row
        if row is None:
            return isinstance(burst.jobs[0], StartJob)
        burst.plan = self._plans.of(burst.key.tenant).at_hand(row.content)
        return burst.plan is not None and not is_split(row.state)

    async def _find_plan(self, burst: Burst) -> bool:
        try:
            if burst.row is None:
                raise InstanceNotFound(burst.key.id)
            burst.plan = await self._plans.of(burst.key.tenant).plan(burst.row.content)
            burst.heap = self._take_heap(burst.key, burst.row.version)
            burst.values = await self._cache.values_of(burst.key, burst.row, pages=burst.heap is None)
        except HoldfastError as error:  # An instance that cannot run does not stop the others of its batch.
            jobs, burst.jobs = burst.jobs, []
            for job in jobs:
                self._conflicts.fail(job, error)
            return False
        return True

    def _take_heap(self, key: InstanceKey, version: int) -> HeapBook | None:
        """Large variables in memory. With snapshots each commit needs all pages, so they are always loaded."""
        return None if self._runner.snapshots else self._cache.take_heap(key, version)

    def _keep_heap(self, burst: Burst, heap: HeapBook, row: InstanceRow) -> bool:
        """Keep large variables for the next burst, unless the answer of a job refers to them. True if they are kept."""
        is_shared = any(heap.blocks) and any(job.answer is not None for job in burst.applied)
        if not heap.tracks or is_shared:
            return False
        heap.replace_touched()
        self._cache.keep_heap(burst.key, row.version, heap)
        return True

    # -- commit --------------------------------------------------------------------------------------------------------

    async def _commit(self, batch: list[_Work], send: Send) -> None:
        commits = [commit for _, commit in batch]
        while True:
            try:
                outcomes = await send(commits)
                break
            except AWAY as error:
                # The outcome is unknown. Callers get the error; the same commit is sent again until its outcome is known,
                # since a guess would run an effect twice or never.
                self._log.warning("a commit could not be written yet")
                for burst, _ in batch:
                    for job in burst.applied:
                        job.refuse(error)
                await asyncio.sleep(RESEND_SECONDS)
        for (burst, commit), outcome in zip(batch, outcomes, strict=True):
            self._settle(burst, commit, outcome)

    def _settle(self, burst: Burst, commit: Commit | None, outcome: CommitOutcome) -> None:
        left: Sequence[Job] = ()
        if burst.unsure or len(burst.jobs) > len(burst.applied):
            left = (*burst.unsure, *burst.left)
        burst.jobs, burst.unsure = [], []
        waits = 0 if burst.live is None else len(burst.live.waiters)
        self._pace.ran(burst.key, burst.cost_ns, len(burst.applied), waits)
        if isinstance(outcome, Committed):
            self._publish(burst, commit)
        elif isinstance(outcome, Failed):
            self._cache.forget(burst.key)
            for job in burst.applied:
                self._conflicts.fail(job, outcome.error)
        else:
            self._conflicts.lost(burst.key, burst.applied, outcome)
        for job in left:
            self._conflicts.submit(job)

    # -- publish -------------------------------------------------------------------------------------------------------

    def _publish(self, burst: Burst, commit: Commit | None) -> None:
        """The burst is committed: only now may its effects start and its answers leave."""
        live = burst.live
        if live is None or not burst.applied:
            return
        lines, version = live.lines, 0
        if burst.changed:
            if lines:
                live.lines = []
            if telemetry.listeners:
                after_commit.emit_events(burst, live)
            if self._lines:
                self._lines.publish(burst.key, live, lines)
            if live.new_effects or live.canceled_effects:
                self.hooks.start_effects(burst.key, live)
            if commit is not None and commit.instance is not None:
                version = commit.instance.version
                self._follow_up(burst, live, commit, commit.instance)
        else:
            lines = []
        answer = _DONE
        for job in burst.applied:
            if job.answer is not None and answer is _DONE:
                answer = Answer(RunResult(live, lines, {}), None, not burst.changed, version)
            job.finish(answer)

    def _follow_up(self, burst: Burst, live: LiveInstance, commit: Commit, row: InstanceRow) -> None:
        """Work that a committed instance leaves for this node."""
        hooks, key = self.hooks, burst.key
        self._cache.keep(key, row)
        values = commit.values_added
        if live.heap is not None and row.finished is None and self._keep_heap(burst, live.heap, row):
            pages = live.heap.refs  # The next burst has their content in memory.
            values = tuple([value for value in values if value.ref not in pages])
        if values:
            self._cache.keep_values(values)
        if commit.effects_added:
            hooks.send_steps(live, row, commit.effects_added)
        if commit.work_added:
            hooks.take_work(commit.work_added)
        if row.finished is not None:
            hooks.instance_ended(key)
            self._watch.ended(key, row)
        if commit.bookmarks_added:
            hooks.bookmarks_added(_open_to_stimuli(live, commit))


def _open_to_stimuli(live: LiveInstance, commit: Commit) -> list[BookmarkRow]:
    """New bookmarks whose stimulus may have arrived before them (rule H7)."""
    marks = live.bookmarks
    return [row for row in commit.bookmarks_added if marks[f"b{row.seq}"].kind is _ACTIVITY]


def _batches(work: list[_Work]) -> Iterator[list[_Work]]:
    """Batches within the size limit of a transaction."""
    batch: list[_Work] = []
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
