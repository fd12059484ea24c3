"""Definition use cases of the API, on top of the runtime's service: ETags, labels and folders, bulk changes, diff."""

from __future__ import annotations

from typing import Any

import msgspec

from holdfast.errors import HoldfastError, VersionConflict
from holdfast.execution import suspension
from holdfast.model.catalog import DefinitionQuery, DefinitionVersion, Which
from holdfast.model.definition import Definition
from holdfast.model.diff import diff_definitions
from holdfast.model.reader import read_definition
from holdfast.model.writer import write_definition
from holdfast.server.backend import Backend
from holdfast.server.problems import Refusal, answer_for, as_finding
from holdfast.server.schemas.base import BulkFailure, BulkResult, Document, ProblemDetail
from holdfast.server.schemas.definitions import (
    DefinitionDetail,
    DefinitionDiff,
    DefinitionsBulkRequest,
    DefinitionSummary,
    PublishResult,
)
from holdfast.server.views import definitions as views


class DefinitionService:
    def __init__(self, server: Backend) -> None:
        self._server = server
        self._service = server.runtime.definitions

    # -- drafts --------------------------------------------------------------------------------------------------------

    async def create(self, document: Document) -> DefinitionDetail:
        try:
            return await self._detail(await self._service.save_draft(native(document), expected_hash=""))
        except VersionConflict as error:
            raise _exists(error.definition_id, "Save it with PUT, or choose another id.") from error

    async def save(self, definition_id: str, document: Document, if_match: str | None) -> DefinitionDetail:
        ours = native(document)
        given = ours.setdefault("id", definition_id)
        if given != definition_id:
            raise Refusal(
                422, "definition.other_id", f"The document's id is '{given}', but the URL names '{definition_id}'."
            )
        expected = None if if_match is None or if_match.strip() == "*" else if_match.strip().strip('"')
        try:
            return await self._detail(await self._service.save_draft(ours, expected_hash=expected))
        except VersionConflict as error:
            raise Refusal(412, "definition.changed", str(error)) from error

    async def duplicate(self, definition_id: str, new_id: str, name: str | None) -> DefinitionDetail:
        await views.find(self._server, definition_id)
        try:
            return await self._detail(await self._service.duplicate(definition_id, new_id, name=name))
        except VersionConflict as error:
            raise _exists(new_id, "Choose another id.") from error

    async def revert(self, definition_id: str, version: int) -> DefinitionDetail:
        await views.find(self._server, definition_id, version)
        return await self._detail(await self._service.revert(definition_id, version))

    # -- publishing ----------------------------------------------------------------------------------------------------

    async def publish(self, definition_id: str, version: str) -> PublishResult:
        label = await views.find(self._server, definition_id, version)
        published = await self._service.publish(definition_id, label.version)
        return PublishResult(
            summary=await views.summary(self._server, published.version),
            triggers=published.triggers,
            live_instances=published.live_instances,
            consumers_updated=list(published.consumers_updated),
            consumers_refused=dict(published.consumers_refused),
        )

    async def retract(self, definition_id: str) -> DefinitionSummary:
        await views.find(self._server, definition_id)
        if not await self._service.retract(definition_id):
            raise Refusal(409, "definition.not_published", f"No version of '{definition_id}' is published.")
        return await views.summary(self._server, await views.find(self._server, definition_id))

    # -- deleting ------------------------------------------------------------------------------------------------------

    async def delete(self, definition_id: str) -> None:
        await views.find(self._server, definition_id)
        await self._service.delete(definition_id)

    async def delete_version(self, definition_id: str, version: int) -> None:
        await views.find(self._server, definition_id, version)
        await self._service.delete_version(definition_id, version)

    # -- reading -------------------------------------------------------------------------------------------------------

    async def versions(self, definition_id: str) -> list[DefinitionSummary]:
        await views.find(self._server, definition_id)
        query = DefinitionQuery(which=Which.ALL, definition_ids=(definition_id,), sort="version")
        return [await views.summary(self._server, item) for item in await views.versions(self._server, query)]

    async def definition(self, definition_id: str, version: str) -> Definition:
        label = await views.find(self._server, definition_id, version)
        found, problems = read_definition(await self._server.document(label.content), trusted=True)
        if found is None:
            raise Refusal(422, "definition.invalid", str(problems[0]))
        return found

    async def diff(self, definition_id: str, before: str, after: str) -> DefinitionDiff:
        old, new = await self.definition(definition_id, before), await self.definition(definition_id, after)
        return DefinitionDiff.model_validate(msgspec.to_builtins(diff_definitions(old, new)))

    async def validate(self, document: Document) -> list[ProblemDetail]:
        """All problems. Expressions are compiled, some in child processes: the event loop goes on meanwhile."""
        found: list[ProblemDetail] = await suspension.run(self._problems, document)
        return found

    def _problems(self, document: Document) -> list[ProblemDetail]:
        from holdfast.elsa import is_elsa, read_elsa

        if is_elsa(document):
            definition, problems = read_elsa(document)
            found = [*problems, *(self._service.validate(definition) if definition is not None else ())]
        else:
            found = list(self._service.validate(document))
        problems = list(dict.fromkeys(found))
        return [ProblemDetail(**_placed(as_finding(item), document)) for item in problems]

    async def file(self, definition_id: str, labels: list[str] | None, folder: str | None) -> DefinitionSummary:
        tidy = None if labels is None else list(dict.fromkeys(labels))
        label = await self._service.label(
            definition_id, labels=tidy, folder=None if folder is None else folder.strip("/")
        )
        return await views.summary(self._server, label)

    # -- bulk ----------------------------------------------------------------------------------------------------------

    async def bulk(self, body: DefinitionsBulkRequest) -> BulkResult:
        result = BulkResult(done=[], failed=[])
        for name in dict.fromkeys(body.ids):
            try:
                await self._one(name, body)
                result.done.append(name)
            except (HoldfastError, Refusal) as error:
                code = error.code if isinstance(error, Refusal) else answer_for(error).code
                result.failed.append(BulkFailure(id=name, code=code, message=str(error)))
        return result

    async def _one(self, name: str, body: DefinitionsBulkRequest) -> Any:
        if body.action == "publish":
            return await self.publish(name, "latest")
        if body.action == "retract":
            return await self.retract(name)
        if body.action == "delete":
            return await self.delete(name)
        return await self.file(name, body.labels, body.folder)

    # -- helpers -------------------------------------------------------------------------------------------------------

    async def _detail(self, label: DefinitionVersion) -> DefinitionDetail:
        return await views.detail(self._server, label)


def _exists(definition_id: str, remedy: str) -> Refusal:
    return Refusal(409, "definition.exists", f"A definition '{definition_id}' already exists. {remedy}")


def native(document: Document) -> Document:
    """The document in Holdfast's format; Elsa 3 documents are translated."""
    from holdfast.elsa import is_elsa, read_elsa

    if not is_elsa(document):
        return dict(document)
    definition, problems = read_elsa(document)
    if definition is None:
        raise Refusal(422, "definition.invalid", str(problems[0]), findings=[as_finding(item) for item in problems])
    ours = write_definition(definition)
    if not definition.labels:  # Elsa has no labels: leave them unspecified.
        ours.pop("labels", None)
    return ours


def _placed(finding: dict[str, Any], document: Document) -> dict[str, Any]:
    """The finding with the id of the innermost activity on its path."""
    part: Any = document
    activity = finding.get("activity_id")
    for step in finding["path"].strip("/").split("/"):
        if isinstance(part, list) and step.isdigit() and int(step) < len(part):
            part = part[int(step)]
        elif isinstance(part, dict) and step in part:
            part = part[step]
        else:
            break
        if isinstance(part, dict) and isinstance(part.get("id"), str) and isinstance(part.get("type"), str):
            activity = part["id"]
    return {**finding, "activity_id": activity}
