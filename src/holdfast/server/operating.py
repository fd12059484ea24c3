"""What operators do with instances, as the API says it: each answer is the instance as it is afterwards, with its position."""

from __future__ import annotations

from typing import Any

import msgspec

from holdfast.errors import HoldfastError, InstanceNotFound, InvalidState
from holdfast.model.listing import InstanceFilter, InstanceQuery
from holdfast.model.upkeep import EXPORT_FORMAT, InstanceExport
from holdfast.server.backend import Backend
from holdfast.server.problems import Refusal, answer_for
from holdfast.server.schemas.base import BulkFailure, BulkResult
from holdfast.server.schemas.instances import (
    CancelRequest,
    ForkRequest,
    ImportedInstance,
    InstanceFilterBody,
    InstanceResult,
    InstancesBulkRequest,
    RetryRequest,
    SkipRequest,
)
from holdfast.server.views import instances as views

BULK_MAX = 10_000
PAGE = 500


class Operating:
    def __init__(self, server: Backend, who: str) -> None:
        self._server = server
        self._who = who

    # -- one -----------------------------------------------------------------------------------------------------------

    async def resume(self, instance_id: str, bookmark: str | None, payload: Any, key: str | None) -> InstanceResult:
        await self._server.runtime.resume(instance_id, bookmark, payload, idempotency=key)
        return await self._now(instance_id)

    async def cancel(self, instance_id: str, body: CancelRequest) -> InstanceResult:
        await self._server.runtime.operators.cancel(
            instance_id, terminate=body.terminate, who=self._who, why=body.why
        )
        return await self._now(instance_id)

    async def retry(self, instance_id: str, body: RetryRequest) -> InstanceResult:
        await self._server.runtime.operators.retry(
            instance_id, activity_id=body.activity_id, inputs=body.inputs, who=self._who, why=body.why
        )
        return await self._now(instance_id)

    async def skip(self, instance_id: str, body: SkipRequest) -> InstanceResult:
        await self._server.runtime.operators.skip(
            instance_id, body.activity_id, outputs=body.outputs or {}, who=self._who, why=body.why
        )
        return await self._now(instance_id)

    async def alter(self, instance_id: str, alterations: list[dict[str, Any]], why: str | None) -> InstanceResult:
        await self._server.runtime.alterations.alter(instance_id, alterations, who=self._who, why=why)
        return await self._now(instance_id)

    async def set_variables(self, instance_id: str, variables: dict[str, Any], why: str | None) -> InstanceResult:
        changes = [{"type": "set_variable", "name": name, "value": value} for name, value in variables.items()]
        return await self.alter(instance_id, changes, why)

    async def delete(self, instance_id: str) -> None:
        await self._server.runtime.node.row(instance_id)
        await self._server.store.delete_instances(self._server.tenant, [instance_id])

    async def _now(self, instance_id: str) -> InstanceResult:
        row, result = await views.read(self._server, instance_id)
        return views.result_of(self._server, result, row.version)

    # -- in and out ----------------------------------------------------------------------------------------------------

    async def export(self, instance_id: str) -> bytes:
        found = await self._server.store.export_instance(self._server.tenant, instance_id)
        if found is None:
            raise InstanceNotFound(instance_id)
        content = await self._server.content(found.instance.content)
        document = {
            "format": EXPORT_FORMAT,
            "export": msgspec.to_builtins(found),
            "definition": msgspec.json.decode(content.document),
        }
        return msgspec.json.format(msgspec.json.encode(document), indent=1)

    async def import_(self, document: dict[str, Any], *, instance_id: str | None = None) -> ImportedInstance:
        try:
            export = msgspec.convert(document["export"], InstanceExport)
            definition = document["definition"]
        except (KeyError, TypeError, msgspec.ValidationError) as error:
            raise InvalidState(f"This is no exported instance: {error}. Send what /export gave.") from error
        export = _moved(export, self._server.tenant, instance_id)
        await self._server.adopt_content(export.instance, definition)
        await self._server.store.import_instance(export)
        return ImportedInstance(id=export.instance.id, position=export.instance.version)

    async def fork(self, instance_id: str, body: ForkRequest) -> ImportedInstance:
        raise Refusal(501, "fork.missing", "Forking is not there yet.")

    # -- many ----------------------------------------------------------------------------------------------------------

    async def bulk(self, body: InstancesBulkRequest) -> BulkResult:
        filter = None if body.filter is None else as_filter(body.filter)
        if not body.ids and filter is None:
            raise Refusal(422, "bulk.nothing", "Say which instances: ids or a filter.")
        result = BulkResult(done=[], failed=[])
        for name in dict.fromkeys(body.ids) if filter is None else await self._found(filter, body.ids):
            try:
                if filter is None or await self._still(filter, name):
                    await self._one(name, body)
                    result.done.append(name)
            except (HoldfastError, Refusal) as error:
                code = error.code if isinstance(error, Refusal) else answer_for(error).code
                result.failed.append(BulkFailure(id=name, code=code, message=str(error)))
        return result

    async def _one(self, name: str, body: InstancesBulkRequest) -> Any:
        if body.action == "cancel":
            return await self.cancel(name, CancelRequest(terminate=body.terminate, why=body.why))
        if body.action == "retry":
            return await self.retry(name, RetryRequest(why=body.why))
        return await self.delete(name)

    async def _found(self, filter: InstanceFilter, ids: list[str]) -> list[str]:
        wanted = msgspec.structs.replace(filter, ids=tuple(ids)) if ids else filter
        names: list[str] = []
        cursor = None
        while len(names) < BULK_MAX:
            page = await self._server.store.search(
                InstanceQuery(tenant=self._server.tenant, filter=wanted, limit=PAGE, cursor=cursor)
            )
            names.extend(row.id for row in page.items)
            cursor = page.cursor
            if cursor is None:
                return names
        return names[:BULK_MAX]

    async def _still(self, filter: InstanceFilter, name: str) -> bool:
        """A list may be late: what matters is the instance itself (rule M7)."""
        row = await self._server.runtime.node.row(name)
        return not filter.statuses or row.status in filter.statuses


def as_filter(body: InstanceFilterBody) -> InstanceFilter:
    return InstanceFilter(
        ids=tuple(body.ids),
        statuses=tuple(body.status),
        definition_ids=tuple(body.definition_id),
        definition_version=body.version,
        correlation_ids=tuple(body.correlation_id),
        parent_id=body.parent_id,
        has_incidents=body.has_incidents,
        search=body.search,
        created_from=body.created_after,
        created_before=body.created_before,
    )


def _moved(export: InstanceExport, tenant: str, instance_id: str | None) -> InstanceExport:
    """Under this tenant, whatever the other one was called."""
    if instance_id is not None:
        raise NotImplementedError
    if export.instance.tenant == tenant:
        return export
    raise InvalidState("The instance belongs to another tenant. Import it there.")
