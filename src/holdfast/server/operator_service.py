"""Operator actions of the API. Each result is the instance after the action, with its position."""

from __future__ import annotations

from typing import Any, Self

import msgspec

from holdfast.errors import InstanceNotFound
from holdfast.model.listing import InstanceFilter
from holdfast.model.principal import ADMIN, Principal
from holdfast.model.stored import InstanceKey
from holdfast.server.backend import Backend
from holdfast.server.problems import Refusal, answer_for
from holdfast.server.schemas.base import BulkFailure, Done
from holdfast.server.schemas.instances import (
    CancelRequest,
    ForkRequest,
    ImportedInstance,
    InstanceFilterBody,
    InstanceResult,
    InstancesBulkRequest,
    InstancesBulkResult,
    RecoverRequest,
    RetryRequest,
    SkipRequest,
)
from holdfast.server.views import instances as views

PAGE = 1_000


class OperatorService:
    def __init__(self, server: Backend, who: str, *, may_answer: bool = False) -> None:
        self._server = server
        self._who = who
        self._may_answer = may_answer
        """Whether the caller may resume and skip human tasks. Others answer the tasks that are meant for them."""

    @classmethod
    def of(cls, server: Backend, who: Principal) -> Self:
        return cls(server, who.name, may_answer=ADMIN in who.roles)

    # -- single instance -----------------------------------------------------------------------------------------------

    async def resume(self, instance_id: str, bookmark: str | None, payload: Any, key: str | None) -> InstanceResult:
        runtime = self._server.runtime
        if key is not None:
            await runtime.resume(
                instance_id, bookmark, payload, idempotency=key, who=self._who, may_answer=self._may_answer
            )
            return await self._now(instance_id)
        done = await runtime.operators.resume_and_read(
            instance_id, bookmark, payload, who=self._who, may_answer=self._may_answer
        )
        if done is not None:
            return views.result_of(self._server, *done)
        return await self._now(instance_id)

    async def cancel(self, instance_id: str, body: CancelRequest) -> InstanceResult:
        await self._server.runtime.operators.cancel(instance_id, terminate=body.terminate, who=self._who, why=body.why)
        return await self._now(instance_id)

    async def retry(self, instance_id: str, body: RetryRequest) -> InstanceResult:
        await self._server.runtime.operators.retry(
            instance_id, body.activity_id, inputs=body.inputs, who=self._who, why=body.why
        )
        return await self._now(instance_id)

    async def recover(self, instance_id: str, body: RecoverRequest) -> Done:
        return Done(count=await self._server.runtime.operators.recover(instance_id, who=self._who, why=body.why))

    async def skip(self, instance_id: str, body: SkipRequest) -> InstanceResult:
        await self._server.runtime.operators.skip(
            instance_id,
            body.activity_id,
            outcome=body.outcome,
            who=self._who,
            why=body.why,
            may_answer=self._may_answer,
        )
        return await self._now(instance_id)

    async def alter(self, instance_id: str, alterations: list[dict[str, Any]], why: str | None) -> InstanceResult:
        await self._server.runtime.alterations.alter(instance_id, alterations, who=self._who, why=why)
        return await self._now(instance_id)

    async def set_variables(self, instance_id: str, variables: dict[str, Any], why: str | None) -> InstanceResult:
        changes = [{"type": "modify_variable", "variable": name, "value": value} for name, value in variables.items()]
        return await self.alter(instance_id, changes, why)

    async def fork(self, instance_id: str, body: ForkRequest) -> ImportedInstance:
        made = await self._server.runtime.fork(instance_id, version=body.version, who=self._who, why=body.why)
        return ImportedInstance(id=made, position=(await self._server.runtime.row(made)).version)

    async def delete(self, instance_id: str) -> None:
        if not await self._server.runtime.operators.delete(instance_id, who=self._who):
            raise InstanceNotFound(instance_id)

    async def _now(self, instance_id: str) -> InstanceResult:
        row, result = await views.read(self._server, instance_id)
        return views.result_of(self._server, result, row.version)

    # -- bulk ----------------------------------------------------------------------------------------------------------

    async def bulk(self, body: InstancesBulkRequest) -> InstancesBulkResult:
        if not body.ids and body.filter is None:
            raise Refusal(422, "bulk.nothing", "Name the instances: send ids or a filter.")
        filter = InstanceFilter() if body.filter is None else as_filter(body.filter)
        if body.ids:
            filter = msgspec.structs.replace(filter, ids=tuple(body.ids))
        failed = await self._missing(body.ids)
        operators = self._server.runtime.operators
        who, why = self._who, body.why
        if body.action == "cancel":
            done = await operators.cancel_all(filter, terminate=body.terminate, who=who, why=why)
        elif body.action == "retry":
            done = await operators.retry_all(filter, who=who, why=why)
        else:
            done = await operators.delete_all(filter, who=who, why=why)
        failed += [
            BulkFailure(id=item.instance_id, code="instance.refused", message=item.message) for item in done.failed
        ]
        return InstancesBulkResult(changed=done.changed, unchanged=done.unchanged, failed=failed)

    async def _missing(self, ids: list[str]) -> list[BulkFailure]:
        """Named instances that do not exist, so that a mistyped id is reported."""
        server, found = self._server, list[BulkFailure]()
        for start in range(0, len(ids), PAGE):
            keys = [InstanceKey(server.tenant, name) for name in dict.fromkeys(ids[start : start + PAGE])]
            there = await server.store.versions_of(keys)
            for key in keys:
                if key not in there:
                    error = InstanceNotFound(key.id)
                    found.append(BulkFailure(id=key.id, code=answer_for(error).code, message=str(error)))
        return found


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
        updated_from=body.updated_after,
        updated_before=body.updated_before,
        finished_from=body.finished_after,
        finished_before=body.finished_before,
    )
