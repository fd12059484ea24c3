"""The facade: everything that applications, the server, the command line and `management` call on a running node.

A `Runtime` is the view of one tenant. Every method that changes an instance returns after its commit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any, Self

from holdfast.errors import BookmarkNotFound, ExecutionError, KeyReused
from holdfast.execution import delivery
from holdfast.execution.activation_slot import no_slot
from holdfast.execution.plan import Plan
from holdfast.model.catalog import TriggerRow, Which
from holdfast.model.guard import Guard, idempotency_key
from holdfast.model.hashing import stimulus_hash
from holdfast.model.ids import checked_id
from holdfast.model.instance import Bookmark
from holdfast.model.schedule import Rule
from holdfast.model.stored import InstanceKey
from holdfast.model.ticket import Ticket
from holdfast.model.wake_keys import key_of
from holdfast.model.work import EffectRow, ScheduleRow, WorkRow
from holdfast.ports import WorkflowDispatcher
from holdfast.runtime.commits.activation_slots import slot_holder
from holdfast.runtime.commits.console_lines import OnLine
from holdfast.runtime.commits.jobs.base import Answer, Job
from holdfast.runtime.commits.jobs.control import TERMINATED, CancelJob, RetryJob, slot_taken
from holdfast.runtime.commits.jobs.operator import OperatorRequest, OperatorResume
from holdfast.runtime.commits.jobs.resume import ResumeJob
from holdfast.runtime.commits.jobs.start import CanceledStartJob, Start, StartJob
from holdfast.runtime.dispatchers.dispatch_events import AnnouncedDispatcher
from holdfast.runtime.dispatchers.durable import DurableDispatcher
from holdfast.runtime.dispatchers.inline import InlineDispatcher
from holdfast.runtime.dispatchers.stimulus_sender import StimulusSender
from holdfast.runtime.parts import RuntimeParts
from holdfast.runtime.plans.version_lookup import require_version
from holdfast.runtime.reads import InstanceReads
from holdfast.runtime.result import RunResult
from holdfast.runtime.stimuli.inbox_expiry import InboxExpiry
from holdfast.runtime.stimuli.matching import BookmarkMatcher
from holdfast.runtime.work_queue.child_starts import ChildStarts

MakeDispatcher = Callable[[Any], WorkflowDispatcher]


class Runtime(InstanceReads):
    """Starts, resumes, cancels and reads instances of one tenant."""

    def __init__(
        self,
        parts: RuntimeParts,
        tenant: str,
        plan_of: Callable[[Any], Plan],
        *,
        make_dispatcher: MakeDispatcher | None = None,
    ) -> None:
        super().__init__(parts, tenant)
        self.plan_of = plan_of
        self.clock = parts.clock
        self.services = parts.services
        self.calendar = parts.calendar
        self.membership = parts.membership
        self.liveness = parts.liveness
        self.intake = parts.intake
        self.log = parts.log
        self._lanes = parts.lanes
        self._make_dispatcher = make_dispatcher

    # -- life ----------------------------------------------------------------------------------------------------------

    async def __aenter__(self) -> Self:
        await self._parts.life.start()
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._parts.life.stop()

    def take_work(self) -> None:
        """Take work of the queues from now on, take over from dead nodes, and deliver the outbox."""
        self._parts.life.take_work()

    async def drain(self, limit: timedelta) -> bool:
        """Take no new work and wait until the work in hand has ended; False if the limit passed first."""
        return await self._parts.life.drain(limit)

    # -- collaborators of this tenant ----------------------------------------------------------------------------------

    @property
    def matcher(self) -> BookmarkMatcher:
        return self._parts.matcher

    @property
    def expiry(self) -> InboxExpiry:
        return self._parts.expiry

    @cached_property
    def durable(self) -> DurableDispatcher:
        """The dispatcher that stores a request before it answers."""
        return DurableDispatcher(self)

    @cached_property
    def inline(self) -> InlineDispatcher:
        """The dispatcher that executes a request at once, here."""
        return InlineDispatcher(self)

    @cached_property
    def dispatcher(self) -> AnnouncedDispatcher:
        """The dispatcher of `Holdfast(dispatcher=…)`, else `durable`; it emits an event before and after each request."""
        inner: WorkflowDispatcher = self.durable if self._make_dispatcher is None else self._make_dispatcher(self)
        return AnnouncedDispatcher(self, inner)

    @cached_property
    def stimuli(self) -> StimulusSender:
        return StimulusSender(self)

    def new_id(self) -> str:
        """A unique id for an instance; ids sort by time."""
        return self.membership.next_id()

    # -- jobs ----------------------------------------------------------------------------------------------------------

    def submit(self, job: Job) -> None:
        """Queue a job in the lane of its instance."""
        self._lanes.submit(job)

    async def ask(self, job: Job) -> Answer:
        """Queue a job and wait for its commit. A caller that stops waiting cancels the answer, not the job (rule M1)."""
        return await self._lanes.ask(job)

    def take_rows(self, rows: Iterable[WorkRow]) -> None:
        """Execute work rows now, whether they are due or not."""
        self._parts.poller.take(rows)

    def take_own(self, rows: Iterable[WorkRow], kinds: Iterable[str] | None = None) -> None:
        """Execute rows that were just added, if this node serves their queue."""
        if kinds is None:
            self._parts.poller.take_own(rows)
        else:
            self._parts.poller.take_own(rows, frozenset(kinds))

    @property
    def takes_own(self) -> bool:
        """Whether this node executes rows of the tenant's default queue that it adds itself."""
        return self._parts.poller.takes_own_of(self.tenant)

    def listen(self, instance_id: str, on_line: OnLine) -> None:
        """Call `on_line` with every line that the instance writes on this node, until it ends."""
        self._parts.lines.listen(self.key(instance_id), on_line)

    async def run_step(self, ticket: Ticket) -> bool:
        """Run the step that a ticket names and wait until it ends; False if it did not begin here.

        For carriers with workers of their own, such as Celery.
        """
        return await self._parts.steps.run_to_end(ticket)

    # -- definitions ---------------------------------------------------------------------------------------------------

    async def current_plan(self, definition_id: str, which: int | Which = Which.PUBLISHED) -> tuple[Plan, str]:
        """Plan and content of a version; at most a second behind a publish on another node. Raises `DefinitionNotFound`, or
        `DefinitionNotPublished` if there is no published version."""
        wanted = (Which.PUBLISHED, Which.LATEST) if which is Which.LATEST_OR_PUBLISHED else (which,)
        for item in wanted:
            label = await self.plans.current.version(definition_id, item)
            if label is not None:
                return await self.plans.plan(label.content), label.content
        label = await require_version(self.store, self.tenant, definition_id, which)
        return await self.plans.plan(label.content), label.content

    async def find_triggers(self, type_name: str, payload: Any) -> list[TriggerRow]:
        """Triggers of published definitions that a stimulus of that type and payload fits."""
        rows = await self.plans.current.triggers([key_of(type_name, payload)])
        return [row for row in rows if row.type == type_name]

    async def slot_holder(self, plan: Plan, correlation_id: str | None) -> str | None:
        """The instance that prevents another start of the definition (rule M2)."""
        return await slot_holder(self.store, self.tenant, plan, correlation_id)

    # -- start ---------------------------------------------------------------------------------------------------------

    async def start(
        self,
        workflow: Any,
        inputs: Mapping[str, Any] | None = None,
        *,
        instance_id: str | None = None,
        correlation_id: str | None = None,
        name: str | None = None,
        idempotency: str | None = None,
        trigger: str | None = None,
        trigger_payload: Any = None,
        flowchart_mode: str | None = None,
        principal: str | None = None,
        trace: str | None = None,
        properties: Mapping[str, Any] | None = None,
        on_line: OnLine | None = None,
    ) -> Answer:
        """Start an instance and run its first segment; the answer comes after the commit.

        Nothing is started if the `idempotency` key was used before, or if the definition allows one instance at a time and
        one is running: the answer then names the instance that holds the key or the slot. `on_line` is called with the lines
        that the instance writes on this node until it ends.
        """
        plan = self.plan_of(workflow)
        plans = self.plans
        key = InstanceKey(
            self.tenant,
            self.membership.next_id() if instance_id is None else checked_id(instance_id, "instance id"),
        )
        start = Start(
            key=key,
            plan=plan,
            content=plans.known(plan) or await plans.pin(plan),
            inputs=inputs or {},
            correlation_id=correlation_id,
            name=name,
            trigger=trigger,
            trigger_payload=trigger_payload,
            flowchart_mode=flowchart_mode,
            principal=principal,
            trace=trace,
            properties=properties or {},
        )
        job = StartJob(start)
        if idempotency is not None:
            body = stimulus_hash(dict(job.inputs), types=plan.types)
            job.guards = (
                idempotency_key(operation="start", target=plan.definition.id, key=idempotency, fingerprint=body),
            )
        elif plan.slot is not no_slot and (holder := await self.slot_holder(plan, correlation_id)) is not None:
            return Answer(existing=holder)
        if on_line is not None:
            self._parts.lines.listen(key, on_line)
        return await self._lanes.ask(job)

    async def http_start(
        self,
        trigger: TriggerRow,
        instance_id: str,
        payload: Any,
        guard: Guard | None,
        *,
        correlation_id: str | None = None,
        principal: str | None = None,
        trace: str | None = None,
    ) -> Answer:
        """Start an instance by the trigger that an HTTP request matched; the answer names the holder of a taken key or
        slot."""
        plan = await self.plans.plan(trigger.content)
        if guard is None and (holder := await self.slot_holder(plan, correlation_id)) is not None:
            return Answer(existing=holder)
        start = Start(
            key=self.key(instance_id),
            plan=plan,
            content=trigger.content,
            lenient=True,
            correlation_id=correlation_id,
            trigger=trigger.activity_id,
            trigger_payload=payload,
            principal=principal,
            trace=trace,
        )
        return await self._lanes.ask(StartJob(start, () if guard is None else (guard,)))

    async def http_resume(self, instance_id: str, bookmark_id: str, payload: Any, guard: Guard | None) -> Answer:
        """Resume the bookmark that an HTTP request matched."""
        guards = () if guard is None else (guard,)
        return await self._lanes.ask(ResumeJob(self.key(instance_id), bookmark_id, payload, guards=guards))

    async def begin_schedule(self, row: ScheduleRow, rule: Rule, due: datetime) -> Answer:
        """Start an instance as the schedule would; the schedule keeps its due time."""
        return await self._parts.scheduler.begin(row, rule, due, None)

    # -- resume, cancel, retry -----------------------------------------------------------------------------------------

    async def resume(
        self,
        instance_id: str,
        bookmark: str | None = None,
        payload: Any = None,
        *,
        idempotency: str | None = None,
        who: str | None = None,
        may_answer: bool = True,
        on_line: OnLine | None = None,
    ) -> RunResult:
        """Resume a bookmark (the only one, if none is named); once per idempotency key. `who` is an operator, for the
        journal. Without `may_answer` the operator cannot resume human tasks."""
        guards: tuple[Guard, ...] = ()
        if idempotency is not None:
            body = stimulus_hash(bookmark, payload)  # Of the request: another bookmark may wait by now.
            guards = (idempotency_key(operation="resume", target=instance_id, key=idempotency, fingerprint=body),)
        if bookmark is None:
            if guards and await self._was_done(guards[0]):
                return await self.read(instance_id)
            bookmark = self.only_bookmark(await self.read(instance_id)).id
        key = self.key(instance_id)
        if on_line is not None:
            self._parts.lines.listen(key, on_line)
        if who is None:
            job = ResumeJob(key, bookmark, payload, guards=guards)
        else:
            job = OperatorResume(key, OperatorRequest(who, may_answer=may_answer), bookmark, payload, guards)
        try:
            answer = await self._lanes.ask(job)
        except ExecutionError:
            if guards and await self._was_done(guards[0]):
                return await self.read(instance_id)
            raise
        return answer.result or await self.read(instance_id)

    async def _was_done(self, key: Guard) -> bool:
        """Whether a request with this key was committed: then this one finds nothing to do."""
        row = await self.store.find_guard(self.tenant, key.ref)
        if row is not None and row.fingerprint != key.fingerprint:
            raise KeyReused("", row.instance_id)
        return row is not None

    async def cancel(self, instance_id: str, *, terminate: bool = False) -> RunResult:
        answer = await self._lanes.ask(CancelJob(self.key(instance_id), "canceled", finalize=not terminate))
        return answer.result or await self.read(instance_id)

    async def cancel_start(self, row: WorkRow, *, terminate: bool = False) -> bool:
        """Cancel an instance that a start row has not started yet; False if a node starts it right now."""
        job = await ChildStarts(self.store, self._parts.plans).job_of(row)
        assert isinstance(job, StartJob)
        canceled = CanceledStartJob(job, TERMINATED if terminate else "canceled", finalize=not terminate)
        return (await self._lanes.ask(canceled)).result is not None

    async def retry(self, instance_id: str) -> RunResult:
        """Run the failed activities of a faulted instance again. It takes its slot again, or is refused (rule M2)."""
        row = await self.row(instance_id)
        holder = await self.slot_holder(await self.plans.plan(row.content), row.correlation_id)
        if holder is not None and holder != instance_id:
            raise slot_taken(instance_id, holder)
        answer = await self._lanes.ask(RetryJob(self.key(instance_id)))
        return answer.result or await self.read(instance_id)

    @staticmethod
    def only_bookmark(result: RunResult) -> Bookmark:
        delivery.refuse_at_rest(result._live)
        waiting = result.bookmarks
        if len(waiting) != 1:
            listed = [f"{item.id} ({item.activity_id})" for item in waiting]
            raise BookmarkNotFound("(none named)", instance_id=result.instance_id, open_ids=listed)
        return waiting[0]

    # -- effects of dead nodes -----------------------------------------------------------------------------------------

    async def recover(self, instance_id: str) -> int:
        """Take over the effects that dead nodes left of this instance, as their `on_lost` says; returns their number."""
        return await self._parts.reaper.recover(self.key(instance_id))

    async def held_effects(self, instance_id: str) -> list[EffectRow]:
        """Effects that `on_lost: hold` keeps from running again."""
        return await self._parts.reaper.held(self.key(instance_id))
