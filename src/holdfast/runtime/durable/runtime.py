"""The runtime: instances with storage. Whoever asks here gets an answer only after the commit."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Self

from holdfast.errors import BookmarkNotFound
from holdfast.execution import delivery
from holdfast.execution.plan import Plan
from holdfast.model.guard import Guard, idempotency_key
from holdfast.model.hashing import stimulus_hash
from holdfast.model.ids import checked_id
from holdfast.model.inputs import check_inputs
from holdfast.model.instance import Bookmark, JournalEntry, Status
from holdfast.model.work import EffectRef
from holdfast.runtime.durable.encoding import decode_journal, decode_state
from holdfast.runtime.durable.jobs import Answer, CancelJob, Job, ResumeJob, RetryJob, StartJob
from holdfast.runtime.durable.node import Node
from holdfast.runtime.result import RunResult

OnLine = Callable[[str], None]


class Runtime:
    """Starts, resumes, cancels and reads instances of one tenant on one node."""

    def __init__(self, node: Node, plan_of: Callable[[Any], Plan]) -> None:
        self.node = node
        self._plan_of = plan_of

    async def __aenter__(self) -> Self:
        await self.node.start()
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.node.stop()

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
        on_line: OnLine | None = None,
    ) -> Answer:
        """Start an instance and run its first burst; the answer comes after the commit.

        With an `idempotency` key that was used before, nothing is started: the answer names the instance that has it.
        """
        plan = self._plan_of(workflow)
        checked = check_inputs(plan.definition, inputs or {}, plan.types)
        identity = checked_id(instance_id, "instance id") if instance_id is not None else self.node.next_id()
        guards: tuple[Guard, ...] = ()
        if idempotency is not None:
            body = stimulus_hash(dict(checked), types=plan.types)
            guards = (idempotency_key(operation="start", target=plan.definition.id, key=idempotency, fingerprint=body),)
        content = await self.node.pins.pin(plan)
        node = self.node
        job = StartJob(
            identity,
            plan=plan,
            content=content,
            make=lambda: delivery.start(
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
            ),
            guards=guards,
            on_line=on_line,
        )
        return await self.ask(job)

    async def ask(self, job: Job) -> Answer:
        """Hand a job to its lane and wait for the commit."""
        assert job.answer is not None
        self.node.submit(job)
        return await job.answer

    # -- going on ------------------------------------------------------------------------------------------------------

    async def resume(
        self, instance_id: str, bookmark: str | None = None, payload: Any = None, *, on_line: OnLine | None = None
    ) -> RunResult:
        """Resume a bookmark (the only one, if none is named)."""
        if bookmark is None:
            bookmark = self._only_bookmark(await self.read(instance_id)).id
        answer = await self.ask(ResumeJob(instance_id, bookmark, payload, on_line=on_line))
        return answer.result or await self.read(instance_id)

    async def cancel(self, instance_id: str, *, terminate: bool = False) -> RunResult:
        answer = await self.ask(CancelJob(instance_id, "canceled", finalize=not terminate))
        return answer.result or await self.read(instance_id)

    async def retry(self, instance_id: str) -> RunResult:
        answer = await self.ask(RetryJob(instance_id))
        return answer.result or await self.read(instance_id)

    @staticmethod
    def _only_bookmark(result: RunResult) -> Bookmark:
        delivery.refuse_at_rest(result._live)
        waiting = result.bookmarks
        if len(waiting) != 1:
            listed = [f"{item.id} ({item.activity_id})" for item in waiting]
            raise BookmarkNotFound("(none named)", instance_id=result.instance_id, open_ids=listed)
        return waiting[0]

    # -- reading -------------------------------------------------------------------------------------------------------

    async def read(self, instance_id: str) -> RunResult:
        """The instance as it is stored."""
        row = await self.node.row(instance_id)
        plan = await self.node.pins.plan(row.content)
        live = decode_state(row.state, plan, self.node.clock.now_ns, self.node.services)
        return RunResult(live, [], {})

    async def journal(self, instance_id: str, *, after: int = 0, limit: int = 1000) -> list[JournalEntry]:
        row = await self.node.row(instance_id)
        plan = await self.node.pins.plan(row.content)
        segments = await self.node.store.read_journal(self.node.tenant, instance_id, after=after, limit=limit)
        return [entry for segment in segments for entry in decode_journal(segment.data, plan, segment.first)]

    # -- recovering ----------------------------------------------------------------------------------------------------

    async def recover(self, instance_id: str) -> int:
        """Take over what a dead node left of this instance: effects without a result run again; how many.

        Effects of nodes that are alive are left alone.
        """
        node = self.node
        alive = {item.owner for item in await node.store.list_nodes() if item.alive_at(await node.store.now())}
        taken = 0
        for row in await node.store.effects_of(node.tenant, instance_id):
            if row.owner in alive or node.runs_effect(instance_id, row.execution):
                continue
            moved = await node.store.move_effect(
                node.tenant, instance_id, row.ref, EffectRef(row.execution, row.attempt + 1, node.owner)
            )
            if moved is not None:
                await node.adopt_effect(moved)
                taken += 1
        return taken

    async def settle(self, instance_id: str) -> RunResult:
        """Wait until nothing of the instance runs here any more: no effect, no job; then read it."""
        while True:
            result = await self.read(instance_id)
            if (result.status is Status.SUSPENDED or result.status.at_rest) and not self.node.works_on(instance_id):
                return result
            await self.node.changed(instance_id)
