"""The runtime: instances with storage. Whoever asks here gets an answer only after the commit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import timedelta
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

from holdfast import telemetry
from holdfast.errors import BookmarkNotFound, ExecutionError, InstanceNotFound
from holdfast.execution import delivery
from holdfast.execution.activation_slot import no_slot
from holdfast.execution.plan import Plan
from holdfast.management.definitions.versions import Definitions, Engine
from holdfast.management.instances.client import InstanceClient
from holdfast.model.catalog import Which
from holdfast.model.guard import Guard, idempotency_key
from holdfast.model.hashing import stimulus_hash
from holdfast.model.ids import checked_id
from holdfast.model.inputs import check_inputs
from holdfast.model.instance import Bookmark, JournalEntry
from holdfast.model.storable_text import storable
from holdfast.model.stored import InstanceRow
from holdfast.model.ticket import Ticket
from holdfast.ports import Outlet, WorkflowDispatcher
from holdfast.runtime import waits
from holdfast.runtime.cluster.node import Node, OnLine
from holdfast.runtime.commits.conflicts import other_request, place_taken
from holdfast.runtime.commits.jobs.base import Answer, CancelJob, Job, ResumeJob, RetryJob, StartJob
from holdfast.runtime.commits.large_values import is_split
from holdfast.runtime.commits.snapshots import Moment, moments, state_at
from holdfast.runtime.commits.state_codec import decode_journal, decode_state
from holdfast.runtime.dispatchers.dispatch_events import Announced
from holdfast.runtime.dispatchers.durable import DurableDispatcher
from holdfast.runtime.dispatchers.inline import InlineDispatcher
from holdfast.runtime.dispatchers.stimulus_sender import Stimuli
from holdfast.runtime.outbox.relay import Relay
from holdfast.runtime.plans.triggers import Triggers
from holdfast.runtime.result import RunResult

if TYPE_CHECKING:
    from holdfast.management.instances.alterations import Alterations
    from holdfast.management.instances.operators import Operators
    from holdfast.management.nodes import Nodes
    from holdfast.management.schedules import Schedules
    from holdfast.management.tasks import Tasks


class Runtime:
    """Starts, resumes, cancels and reads instances of one tenant on one node."""

    def __init__(
        self,
        node: Node,
        engine: Engine,
        *,
        dispatcher: Callable[[Runtime], WorkflowDispatcher] | None = None,
        deployment: str = "",
        outlets: Iterable[Outlet] = (),
    ) -> None:
        self.node = node
        node.outlets = tuple(outlets)
        self.relay = Relay(node)
        self._deployment = deployment
        self.engine = engine
        self._plan_of = engine.plan
        self._make_dispatcher = dispatcher
        node.pins.workshop = engine

    # -- parts, made when they are first asked for ---------------------------------------------------------------------

    @cached_property
    def definitions(self) -> Definitions:
        return Definitions(self.node, self.engine, self._deployment)

    @cached_property
    def triggers(self) -> Triggers:
        return Triggers(self.node)

    @cached_property
    def schedules(self) -> Schedules:
        from holdfast.management.schedules import Schedules

        return Schedules(self.node)

    @cached_property
    def nodes(self) -> Nodes:
        from holdfast.management.nodes import Nodes

        return Nodes(self.node)

    @cached_property
    def tasks(self) -> Tasks:
        from holdfast.management.tasks import Tasks

        return Tasks(self.node)

    @cached_property
    def alterations(self) -> Alterations:
        from holdfast.management.instances.alterations import Alterations

        return Alterations(self.node)

    @cached_property
    def operators(self) -> Operators:
        from holdfast.management.instances.operators import Operators

        return Operators(self.node)

    @cached_property
    def durable(self) -> DurableDispatcher:
        """What it accepts is in the store before it answers."""
        return DurableDispatcher(self)

    @cached_property
    def inline(self) -> InlineDispatcher:
        """Does what it is asked at once, here."""
        return InlineDispatcher(self)

    @cached_property
    def dispatcher(self) -> Announced:
        """The one that was given to `Holdfast(dispatcher=…)`, else `durable`; it tells before and after each request."""
        return Announced(self, self.durable if self._make_dispatcher is None else self._make_dispatcher(self))

    @cached_property
    def stimuli(self) -> Stimuli:
        return Stimuli(self)

    def client(self, instance_id: str) -> InstanceClient:
        """One instance, from outside."""
        return InstanceClient(self, instance_id)

    def new_id(self) -> str:
        """An id for an instance; it differs from all other ids and sorts by time."""
        return self.node.next_id()

    async def run_step(self, ticket: Ticket) -> bool:
        """Run the step that a ticket names and wait until it ends; False if it did not begin here.

        For carriers with workers of their own, such as Celery."""
        return await self.node.steps.run_to_end(ticket)

    def take_work(self) -> None:
        """From now on also do what others left, take over from nodes that died, and deliver what is to leave."""
        self.node.take_work()
        self.relay.start()
        self.definitions.reuse.start()

    async def __aenter__(self) -> Self:
        await self.node.start()
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.relay.stop()
        await self.definitions.reuse.stop()
        await self.node.stop()

    async def current_plan(self, definition_id: str, which: int | Which = Which.PUBLISHED) -> tuple[Plan, str]:
        """What instances of a version run, and the content that they pin; as current as `epochs` keeps it."""
        current = self.node.pins.current
        wanted = (Which.PUBLISHED, Which.LATEST) if which is Which.LATEST_OR_PUBLISHED else (which,)
        for item in wanted:
            label = await current.version(definition_id, item)
            if label is not None:
                return await self.node.pins.plan(label.content), label.content
        await self.definitions.get(definition_id, which)  # Raises what is wrong.
        return await self.definitions.plan(definition_id, which)

    # -- starting ------------------------------------------------------------------------------------------------------

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
        on_line: OnLine | None = None,
    ) -> Answer:
        """Start an instance and run its first segment; the answer comes after the commit.

        Nothing is started if the `idempotency` key was used before, or if the definition allows one instance at a time
        and one is running: the answer names the instance that holds the key or the place. `on_line` hears what the
        instance writes on this node until it ends.
        """
        node = self.node
        plan = self._plan_of(workflow)
        checked = check_inputs(plan.definition, inputs or {}, plan.types)
        identity = checked_id(instance_id, "instance id") if instance_id is not None else node.next_id()
        if correlation_id is not None or name is not None:
            storable(correlation_id, "correlation id")
            storable(name, "name")
        guards: tuple[Guard, ...] = ()
        if idempotency is not None:
            body = stimulus_hash(dict(checked), types=plan.types)
            guards = (idempotency_key(operation="start", target=plan.definition.id, key=idempotency, fingerprint=body),)
        content = node.pins.known(plan) or await node.pins.pin(plan)
        if plan.slot is not no_slot and not guards:
            holder = await node.slot_holder(plan, correlation_id)
            if holder is not None:
                return Answer(existing=holder)
        if on_line is not None:
            node.listen(identity, on_line)
        own_trace = telemetry.trace_for(identity)
        job = StartJob(
            identity,
            plan,
            content,
            lambda: delivery.start(
                plan,
                id=identity,
                now=node.clock.now_ns,
                services=node.services,
                inputs=checked,
                correlation_id=correlation_id,
                name=name,
                trigger=trigger,
                trigger_payload=trigger_payload,
                flowchart_mode=flowchart_mode,
                principal=principal,
                trace=trace or own_trace,
            ),
            guards,
        )
        assert job.answer is not None
        node.submit(job)
        return await job.answer

    async def ask(self, job: Job) -> Answer:
        """Hand a job to its lane and wait for the commit. Who gives up waiting cancels the answer, not the job (rule M1)."""
        assert job.answer is not None
        self.node.submit(job)
        return await job.answer

    # -- going on ------------------------------------------------------------------------------------------------------

    async def resume(
        self,
        instance_id: str,
        bookmark: str | None = None,
        payload: Any = None,
        *,
        idempotency: str | None = None,
        who: str | None = None,
        on_line: OnLine | None = None,
    ) -> RunResult:
        """Resume a bookmark (the only one, if none is named); once with the same key. `who` is an operator, for the journal."""
        guards: tuple[Guard, ...] = ()
        if idempotency is not None:
            body = stimulus_hash(bookmark, payload)  # As it was asked: what waits may be another one by now.
            guards = (idempotency_key(operation="resume", target=instance_id, key=idempotency, fingerprint=body),)
        if bookmark is None:
            if guards and await self._was_done(guards[0]):
                return await self.read(instance_id)
            bookmark = self.only_bookmark(await self.read(instance_id)).id
        if on_line is not None:
            self.node.listen(instance_id, on_line)
        if who is None:
            job = ResumeJob(instance_id, bookmark, payload, guards=guards)
        else:
            from holdfast.runtime.commits.jobs.operator import Asked, ResumeVerb

            job = ResumeVerb(instance_id, Asked(who), bookmark, payload, guards)
        try:
            answer = await self.ask(job)
        except ExecutionError:
            if guards and await self._was_done(guards[0]):
                return await self.read(instance_id)
            raise
        return answer.result or await self.read(instance_id)

    async def _was_done(self, key: Guard) -> bool:
        """Whether a request with this key was committed: then it is why this one finds nothing to do."""
        row = await self.node.store.find_guard(self.node.tenant, key.ref)
        if row is not None and row.fingerprint != key.fingerprint:
            raise other_request(row.instance_id)
        return row is not None

    async def cancel(self, instance_id: str, *, terminate: bool = False) -> RunResult:
        answer = await self.ask(CancelJob(instance_id, "canceled", finalize=not terminate))
        return answer.result or await self.read(instance_id)

    async def retry(self, instance_id: str) -> RunResult:
        """Run the failed activities of a faulted instance again. It takes its place again, or is refused (rule M2)."""
        row = await self.node.row(instance_id)
        holder = await self.node.slot_holder(await self.node.pins.plan(row.content), row.correlation_id)
        if holder is not None and holder != instance_id:
            raise place_taken(instance_id, holder)
        answer = await self.ask(RetryJob(instance_id))
        return answer.result or await self.read(instance_id)

    async def fork(
        self,
        instance_id: str,
        *,
        version: int | None = None,
        new_id: str | None = None,
        who: str,
        why: str | None = None,
    ) -> str:
        """A copy that goes its own way from the state that this one is in, or was in at a version whose state is kept
        (`history = snapshots`); its id (rule M19)."""
        from holdfast.management.instances.fork import fork

        return await fork(self.node, instance_id, version=version, new_id=new_id, who=who, why=why)

    async def moments(self, instance_id: str) -> list[Moment]:
        """Versions whose state is kept, oldest first: with `history = snapshots` all of them."""
        return await moments(self.node, instance_id)

    async def read_at(self, instance_id: str, version: int) -> RunResult:
        """The instance as that commit left it."""
        kept = await state_at(self.node, instance_id, version)
        plan = await self.node.pins.plan(kept.content)
        live = decode_state(kept.state, plan, self.node.clock.now_ns, self.node.services, kept.values)
        return RunResult(live, [], {})

    @staticmethod
    def only_bookmark(result: RunResult) -> Bookmark:
        delivery.refuse_at_rest(result._live)
        waiting = result.bookmarks
        if len(waiting) != 1:
            listed = [f"{item.id} ({item.activity_id})" for item in waiting]
            raise BookmarkNotFound("(none named)", instance_id=result.instance_id, open_ids=listed)
        return waiting[0]

    # -- reading -------------------------------------------------------------------------------------------------------

    async def read(self, instance_id: str) -> RunResult:
        """The instance as it is stored."""
        return await self._result(*await self.node.state(instance_id))

    async def _result(self, row: InstanceRow, values: Mapping[str, bytes]) -> RunResult:
        plan = await self.node.pins.plan(row.content)
        return RunResult(decode_state(row.state, plan, self.node.clock.now_ns, self.node.services, values), [], {})

    async def find(self, instance_id: str) -> RunResult | None:
        """The instance as it is stored; None if it is not there (yet)."""
        try:
            return await self.read(instance_id)
        except InstanceNotFound:
            return None

    async def journal(self, instance_id: str, *, after: int = 0, limit: int = 1000) -> list[JournalEntry]:
        """What happened, in order: the entries of at most `limit` commits whose version is above `after`."""
        row = await self.node.row(instance_id)
        plan = await self.node.pins.plan(row.content)
        segments = await self.node.store.read_journal(self.node.tenant, instance_id, after=after, limit=limit)
        return [entry for segment in segments for entry in decode_journal(segment.data, plan, segment.first)]

    # -- recovering ----------------------------------------------------------------------------------------------------

    async def recover(self, instance_id: str) -> int:
        """Take over what dead nodes left of this instance: effects without a result run again, as their `on_lost` says; how
        many. Effects of nodes that are alive are left alone, and those that are held: see `operators.recover`."""
        return await self.node.takeover.recover(instance_id)

    async def settle(self, instance_id: str) -> RunResult:
        """Wait until nothing of the instance runs on this node any more: no effect, no job; then read it, unless it ended
        here for good."""
        ended = await self.node.watching.rest(instance_id)
        return await (self.read(instance_id) if ended is None or is_split(ended.state) else self._result(ended, {}))

    async def settled(self, instance_id: str) -> None:
        await self.node.watching.rest(instance_id)

    async def wait_burst(self, instance_id: str, limit: timedelta, *, above: int = 0) -> str:
        """Wait until the instance has ended or waits for something outside, at a version above that one, wherever it runs;
        its status then, or when the time is over."""
        return await waits.burst(self.node, instance_id, limit, above)

    async def wait_settled(self, stimulus_id: str, limit: timedelta) -> bool:
        """Wait until a stimulus was matched on this node; False if the time is over before."""
        return await waits.settled(self.node, stimulus_id, limit)

    async def wait_at_rest(self, instance_id: str) -> RunResult:
        """Wait until the instance has ended, wherever it runs."""
        return await waits.at_rest(self.node, lambda: self.read(instance_id))
