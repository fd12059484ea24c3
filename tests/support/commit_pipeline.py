"""The commit pipeline of a node over a memory store, without lanes, claims and effects: for unit tests of its parts."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from holdfast import Holdfast, Workflow
from holdfast.execution import delivery
from holdfast.execution.live import LiveInstance
from holdfast.execution.segment import Limits, run_segment
from holdfast.model.commit import Commit
from holdfast.model.stored import InstanceKey, InstanceRow
from holdfast.persistence.memory import MemoryStore
from holdfast.ports import Outlet
from holdfast.runtime.commits.batch_executor import BatchExecutor
from holdfast.runtime.commits.burst import Burst, BurstRunner
from holdfast.runtime.commits.burst_pace import BurstPace
from holdfast.runtime.commits.commit_builder import CommitBuilder
from holdfast.runtime.commits.commit_hooks import CommitHooks
from holdfast.runtime.commits.conflicts import Conflicts
from holdfast.runtime.commits.console_lines import ConsoleLines
from holdfast.runtime.commits.in_hand import InstancesInHand
from holdfast.runtime.commits.instance_cache import InstanceCache
from holdfast.runtime.commits.instance_reader import InstanceReader
from holdfast.runtime.commits.jobs.base import Answer, Job
from holdfast.runtime.commits.jobs.start import Start, StartJob
from holdfast.runtime.commits.lifecycle_events import LifecycleEvents
from holdfast.runtime.commits.placement import Placement
from holdfast.runtime.commits.spent_rows import SpentRows
from holdfast.runtime.commits.suspended_bursts import SuspendedBursts
from holdfast.runtime.membership import Membership
from holdfast.runtime.observability.outage_log import OutageLog
from holdfast.runtime.plans.plans import Plans

KEY = InstanceKey("", "i")
"""The instance of a test that needs only one."""


class RecordedRetries:
    """The options of a job whose commit was not written; records the chosen ones."""

    def __init__(self) -> None:
        self.calls: list[tuple[Any, ...]] = []

    def again(self, job: Job) -> None:
        self.calls.append(("again", job))

    def later(self, job: Job, seconds: float) -> None:
        self.calls.append(("later", job, seconds))

    def delete_row(self, job: Job) -> None:
        self.calls.append(("delete_row", job))

    def submit(self, job: Job) -> None:
        self.calls.append(("submit", job))


class RecordingStore(MemoryStore):
    """A memory store that keeps the batches it was given."""

    def __init__(self) -> None:
        super().__init__()
        self.batches: list[Sequence[Commit]] = []
        self.loads: list[Sequence[InstanceKey]] = []

    async def commit(self, batch: Sequence[Commit]) -> Any:
        self.batches.append(batch)
        return await super().commit(batch)

    async def load(self, keys: Sequence[InstanceKey], addresses: Sequence[int] = ()) -> Any:
        self.loads.append(keys)
        return await super().load(keys, addresses)

    @property
    def tables(self) -> Any:
        return self._tables


class CommitPipeline:
    """Created by `commit_pipeline`; `calls` are the calls of the hooks, `submitted` the jobs that go to a lane again."""

    def __init__(
        self,
        *,
        placement: Placement | None = None,
        outlets: Sequence[Outlet] = (),
        limits: Limits | None = None,
        snapshots: bool = False,
    ) -> None:
        self.store = RecordingStore()
        self.engine = Holdfast(entry_points=False)
        self.membership = Membership("n")
        self.log = OutageLog("n")
        self.plans = Plans(self.store, self.engine.plan, self.engine.clock.now)
        self.cache = InstanceCache(self.store)
        self.reader = InstanceReader(self.cache, self.plans, self.engine.clock, self.engine.services)
        self.in_hand = InstancesInHand()
        self.lines = ConsoleLines()
        self.spent = SpentRows(self.store, self.membership, self.log)
        self.conflicts = Conflicts(self.cache, self.in_hand, self.spent)
        self.submitted: list[Job] = []
        self.conflicts.submit = self.submitted.append
        self.builder = CommitBuilder(self.membership, placement or Placement(), self.plans)
        self.runner = BurstRunner(
            self.builder,
            self.membership,
            self.engine.clock,
            self.engine.services,
            limits or Limits(),
            add_events=LifecycleEvents(outlets) if outlets else None,
            snapshots=snapshots,
        )
        self.suspended = SuspendedBursts(self.in_hand)
        self.suspended.look_again = lambda: None
        self.executor = BatchExecutor(
            self.store,
            self.cache,
            self.plans,
            self.runner,
            self.in_hand.watch,
            self.lines,
            self.conflicts,
            BurstPace(),
            self.log,
            self.suspended,
        )
        self.calls: list[tuple[Any, ...]] = []
        self.executor.hooks = CommitHooks(
            start_effects=lambda key, live: self.calls.append(("start_effects", key, live)),
            send_steps=lambda live, row, effects: self.calls.append(("send_steps", row, effects)),
            take_work=lambda rows: self.calls.append(("take_work", rows)),
            instance_ended=lambda key: self.calls.append(("instance_ended", key)),
            bookmarks_added=lambda rows: self.calls.append(("bookmarks_added", rows)),
        )

    async def start_job(self, workflow: Workflow, instance_id: str = "i", **given: Any) -> StartJob:
        """The job that starts an instance; fields of `Start` in `given`, arguments of the job in `job`."""
        job = given.pop("job", {})
        plan = self.engine.plan(workflow)
        content = await self.plans.of("").pin(plan)
        return StartJob(Start(key=InstanceKey("", instance_id), plan=plan, content=content, **given), **job)

    async def start(self, workflow: Workflow, instance_id: str = "i", **given: Any) -> Answer:
        return await self.run(await self.start_job(workflow, instance_id, **given))

    async def execute(self, *jobs: Job) -> list[Burst]:
        """One batch; jobs of the same instance are one burst."""
        grouped: dict[InstanceKey, Burst] = {}
        for job in jobs:
            grouped.setdefault(job.key, Burst(job.key, [])).jobs.append(job)
        await self.executor.execute(list(grouped.values()))
        return list(grouped.values())

    async def run(self, job: Job) -> Answer:
        """Execute one job and return its answer."""
        await self.execute(job)
        assert job.answer is not None
        assert job.answer.done()
        return job.answer.result()

    async def row(self, instance_id: str = "i") -> InstanceRow:
        return await self.cache.row(InstanceKey("", instance_id))


async def commit_pipeline(**given: Any) -> CommitPipeline:
    """The pipeline of a registered node."""
    pipeline = CommitPipeline(**given)
    registration = await pipeline.store.register_node("n", time_to_live=timedelta(minutes=1))
    pipeline.membership.join(registration, pipeline.engine.clock.now_ns)
    return pipeline


def begun(workflow: Workflow, **given: Any) -> LiveInstance:
    """A live instance of the workflow after its first segment."""
    engine = Holdfast(entry_points=False)
    fields: dict[str, Any] = {"id": "i", "inputs": {}} | given
    live = delivery.start(engine.plan(workflow), now=engine.clock.now_ns, services=engine.services, **fields)
    run_segment(live, Limits())
    return live
