"""One instance, from outside: everything that can be asked of it and done with it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from holdfast.errors import DefinitionError, InstanceNotFound
from holdfast.model.instance import JournalEntry, Status
from holdfast.model.requests import DispatchDefinition, Dispatched
from holdfast.model.upkeep import InstanceExport
from holdfast.runtime.commits import work_rows
from holdfast.runtime.commits.jobs.dispatch import BeginJob
from holdfast.runtime.commits.starts import Start, start_job
from holdfast.runtime.dispatchers import validation
from holdfast.runtime.result import RunResult

if TYPE_CHECKING:
    from holdfast.runtime.facade import Runtime


class InstanceClient:
    """`runtime.client("order-4711")`. Whoever asks here gets an answer after the commit."""

    def __init__(self, runtime: Runtime, instance_id: str) -> None:
        self._runtime = runtime
        self.id = instance_id

    # -- starting ------------------------------------------------------------------------------------------------------

    async def create(self, definition_id: str, **request: Any) -> Dispatched:
        """Put it there as pending; `run` begins it. Takes what `DispatchDefinition` takes. One that exists is answered with,
        not made again."""
        from holdfast.runtime.dispatchers.create_instance import create

        return await create(self._runtime, await self._asked(definition_id, request))

    async def run(self, bookmark_id: str | None = None, payload: Any = None) -> RunResult:
        """Begin it if it is pending, else resume it at a bookmark (the only one, if none is named)."""
        if bookmark_id is None and (await self._runtime.node.row(self.id)).status == Status.PENDING:
            answer = await self._runtime.ask(BeginJob(self.id, drops=(work_rows.begin_id(self.id),)))
            return answer.result or await self.state()
        return await self.resume(bookmark_id, payload)

    async def create_and_run(self, definition_id: str, **request: Any) -> RunResult:
        """Start it and run its first segment, in one commit. If it is there already, that one is given back."""
        asked = await self._asked(definition_id, request)
        node = self._runtime.node
        if (holder := await node.slot_holder(asked.plan, asked.correlation_id)) is not None:
            return await self._runtime.read(holder)
        answer = await self._runtime.ask(start_job(node, asked))
        if answer.result is not None:
            return answer.result
        return await self._runtime.read(answer.existing or self.id)

    async def _asked(self, definition_id: str, request: Mapping[str, Any]) -> Start:
        asked = DispatchDefinition(definition_id=definition_id, instance_id=self.id, **request)
        return await validation.start_of(self._runtime, asked)

    # -- going on ------------------------------------------------------------------------------------------------------

    async def resume(
        self, bookmark_id: str | None = None, payload: Any = None, *, idempotency: str | None = None
    ) -> RunResult:
        return await self._runtime.resume(self.id, bookmark_id, payload, idempotency=idempotency)

    async def cancel(self, *, terminate: bool = False) -> RunResult:
        """`finally` blocks and compensations run first, unless it is to be terminated."""
        return await self._runtime.cancel(self.id, terminate=terminate)

    # -- keeping -------------------------------------------------------------------------------------------------------

    async def delete(self) -> bool:
        """Remove it from every table; it must have ended. False if it was not there. Its keys stay for a while (rule M4)."""
        node = self._runtime.node
        deleted = await node.store.delete_instances(node.tenant, [self.id])
        node.forget(self.id)
        return bool(deleted)

    async def export(self) -> InstanceExport:
        node = self._runtime.node
        found = await node.store.export_instance(node.tenant, self.id)
        if found is None:
            raise InstanceNotFound(self.id)
        return found

    async def import_(self, export: InstanceExport) -> None:
        """Write what `export` gave; the definition's content must be in this store. Raises `AlreadyStored` if it exists."""
        node = self._runtime.node
        if export.instance.id != self.id:
            raise InstanceNotFound(self.id)
        if await node.store.load_content(node.tenant, export.instance.content) is None:
            raise DefinitionError(
                f"The definition '{export.instance.definition_id}' with the content that this instance runs is not in the "
                "store. Import the definition first."
            )
        await node.store.import_instance(export)

    # -- reading -------------------------------------------------------------------------------------------------------

    async def state(self) -> RunResult:
        return await self._runtime.read(self.id)

    async def journal(self, *, after: int = 0, limit: int = 1000) -> list[JournalEntry]:
        return await self._runtime.journal(self.id, after=after, limit=limit)
