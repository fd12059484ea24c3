"""The client of one instance: create, run, resume, cancel, delete, export and read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from holdfast.errors import DefinitionError, InstanceNotFound
from holdfast.model.instance import JournalEntry, Status
from holdfast.model.requests import DispatchDefinition, Dispatched
from holdfast.model.upkeep import InstanceExport
from holdfast.runtime.commits import work_rows
from holdfast.runtime.commits.jobs.dispatch import BeginJob
from holdfast.runtime.commits.jobs.start import Start, StartJob
from holdfast.runtime.dispatchers import validation
from holdfast.runtime.dispatchers.create_instance import create
from holdfast.runtime.facade import Runtime
from holdfast.runtime.result import RunResult


class InstanceClient:
    """`runtime.client("order-4711")`. Every method that changes the instance returns after its commit."""

    def __init__(self, runtime: Runtime, instance_id: str) -> None:
        self._runtime = runtime
        self.id = instance_id

    # -- starting ------------------------------------------------------------------------------------------------------

    async def create(self, definition_id: str, **request: Any) -> Dispatched:
        """Create the instance as pending; `run` begins it. Takes the fields of `DispatchDefinition`. If the instance exists, the
        answer names it."""
        return await create(self._runtime, await self._start_of(definition_id, request))

    async def run(self, bookmark_id: str | None = None, payload: Any = None) -> RunResult:
        """Begin the instance if it is pending, else resume a bookmark (the only one, if none is named)."""
        if bookmark_id is None and (await self._runtime.row(self.id)).status == Status.PENDING:
            answer = await self._runtime.ask(
                BeginJob(self._runtime.key(self.id), drops_work=(work_rows.begin_id(self.id),))
            )
            return answer.result or await self.state()
        return await self.resume(bookmark_id, payload)

    async def create_and_run(self, definition_id: str, **request: Any) -> RunResult:
        """Start the instance and run its first segment, in one commit. If it exists, returns the existing one."""
        start = await self._start_of(definition_id, request)
        if (holder := await self._runtime.slot_holder(start.plan, start.correlation_id)) is not None:
            return await self._runtime.read(holder)
        answer = await self._runtime.ask(StartJob(start))
        if answer.result is not None:
            return answer.result
        return await self._runtime.read(answer.existing or self.id)

    async def _start_of(self, definition_id: str, request: Mapping[str, Any]) -> Start:
        dispatch = DispatchDefinition(definition_id=definition_id, instance_id=self.id, **request)
        return await validation.start_of(self._runtime, dispatch)

    # -- existing instance ---------------------------------------------------------------------------------------------

    async def resume(
        self, bookmark_id: str | None = None, payload: Any = None, *, idempotency: str | None = None
    ) -> RunResult:
        return await self._runtime.resume(self.id, bookmark_id, payload, idempotency=idempotency)

    async def cancel(self, *, terminate: bool = False) -> RunResult:
        """`finally` blocks and compensations run first, unless `terminate` is set."""
        return await self._runtime.cancel(self.id, terminate=terminate)

    # -- delete, export, import ----------------------------------------------------------------------------------------

    async def delete(self) -> bool:
        """Delete the instance, which must have ended; False if there is none. Its idempotency keys stay for a while (rule M4)."""
        runtime = self._runtime
        deleted = await runtime.store.delete_instances(runtime.tenant, [self.id])
        runtime.forget(self.id)
        return bool(deleted)

    async def export(self) -> InstanceExport:
        runtime = self._runtime
        found = await runtime.store.export_instance(runtime.tenant, self.id)
        if found is None:
            raise InstanceNotFound(self.id)
        return found

    async def import_(self, export: InstanceExport) -> None:
        """Store an exported instance; the definition's content must be in this store. Raises `AlreadyStored` if it exists."""
        runtime = self._runtime
        if export.instance.id != self.id:
            raise InstanceNotFound(self.id)
        if await runtime.store.load_content(runtime.tenant, export.instance.content) is None:
            raise DefinitionError(
                f"The definition '{export.instance.definition_id}' with the content that this instance runs is not in the "
                "store. Import the definition first."
            )
        await runtime.store.import_instance(export)

    # -- reading -------------------------------------------------------------------------------------------------------

    async def state(self) -> RunResult:
        return await self._runtime.read(self.id)

    async def journal(self, *, after: int = 0, limit: int = 1000) -> list[JournalEntry]:
        return await self._runtime.journal(self.id, after=after, limit=limit)
