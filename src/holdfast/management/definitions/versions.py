"""Definitions in a store: drafts, versions, publishing, and workflows of code and files.

A version is a number on immutable content (rule M14). The highest number is the latest; while it is not published it is the
draft, and saving overwrites it. At most one version is published; publishing checks the whole definition, and writes its
triggers and schedules. Running instances stay on the content with which they were started.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from holdfast import telemetry
from holdfast.errors import (
    DefinitionNotFound,
    HoldfastError,
    InvalidDefinition,
    VersionConflict,
)
from holdfast.execution.plan import Plan
from holdfast.management.definitions.consumers import consumers_of
from holdfast.management.definitions.dry_run import CheckedDefinition, DryRun, Place, refuse
from holdfast.management.definitions.engine import Engine
from holdfast.management.definitions.http_routes import check_endpoints, held_routes
from holdfast.management.definitions.new_definitions import publish_new
from holdfast.management.definitions.provided import ProvidedDefinitions, source_hash
from holdfast.management.definitions.version_content import (
    CodeSource,
    definition_of,
    details_of,
    draft_number,
    made_of,
    written_of,
)
from holdfast.management.definitions.workflow_as_activity import (
    PARTS,
    WorkflowsAsActivities,
    bare,
    embedded,
    parts_of,
)
from holdfast.management.schedules import Schedules
from holdfast.model.catalog import (
    DefinitionContent,
    DefinitionQuery,
    DefinitionVersion,
    Origin,
    Source,
    TriggerRow,
    VersionDetails,
    Which,
    content_hash,
)
from holdfast.model.checks.declarations import unreachable
from holdfast.model.definition import Definition
from holdfast.model.instance import Status
from holdfast.model.listing import InstanceFilter
from holdfast.model.problem import Problem
from holdfast.model.writer import write_definition
from holdfast.runtime.facade import Runtime
from holdfast.runtime.plans.triggers import AWAITED, triggers_of
from holdfast.runtime.plans.version_lookup import require_version

_LIVE = tuple(status.value for status in Status if not status.at_rest)


class Published(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a publish."""

    version: DefinitionVersion
    triggers: int
    live_instances: int
    """Live instances of all versions; each stays on its version."""
    consumers_updated: tuple[str, ...] = ()
    """Ids of the definitions that use this workflow as an activity and were published again with it."""
    consumers_refused: Mapping[str, str] = {}
    """Definitions that could not be published again, with the reason; they keep the earlier version of the workflow."""


class Definitions:
    def __init__(self, runtime: Runtime, engine: Engine, deployment: str = "") -> None:
        self._runtime = runtime
        self._deployment = deployment
        self._engine = engine
        self.as_activities = WorkflowsAsActivities(runtime, engine)
        self.dry_run = DryRun(self, runtime, engine)
        self._saving = asyncio.Lock()
        """Serializes read and write in this process; transactions of the store do so for other processes."""

    # -- reading -------------------------------------------------------------------------------------------------------

    async def get(self, definition_id: str, which: int | Which = Which.LATEST) -> DefinitionVersion:
        """One version as it is stored now. Raises `DefinitionNotFound`, or `DefinitionNotPublished` if the published version is
        requested and there are only drafts."""
        return await require_version(self._runtime.store, self._runtime.tenant, definition_id, which)

    async def _find(self, definition_id: str, which: int | Which) -> DefinitionVersion | None:
        """The stored version, uncached: a writer must see the latest state."""
        return await self._runtime.store.find_version(self._runtime.tenant, definition_id, which)

    async def content(self, definition_id: str, which: int | Which = Which.LATEST) -> dict[str, Any]:
        """The document of a version. Its ETag is `get(…).content`."""
        label = await self.get(definition_id, which)
        document: dict[str, Any] = msgspec.json.decode((await self._stored(label)).document)
        document.pop(PARTS, None)
        return label.details.filed(document)

    async def definition(self, definition_id: str, which: int | Which = Which.LATEST) -> Definition:
        return bare((await self._read(await self.get(definition_id, which)))[0])

    async def plan(self, definition_id: str, which: int | Which = Which.PUBLISHED) -> tuple[Plan, str]:
        """The plan of a version, and the content hash that its instances pin."""
        label = await self.get(definition_id, which)
        return await self._runtime.plans.plan(label.content), label.content

    async def list(self, query: DefinitionQuery | None = None) -> tuple[Sequence[DefinitionVersion], int]:
        """One page of versions, and the total number."""
        return await self._runtime.store.list_versions(self._runtime.tenant, query or DefinitionQuery())

    async def versions(self, definition_id: str) -> Sequence[DefinitionVersion]:
        """All versions of a definition, latest first."""
        query = DefinitionQuery(
            which=Which.ALL, definition_ids=(definition_id,), sort="version", descending=True, limit=10_000
        )
        rows, _ = await self.list(query)
        if not rows:
            raise DefinitionNotFound(definition_id)
        return rows

    def validate(self, document: Any) -> Sequence[Problem]:
        """All problems of a document and its triggers; nothing is written."""
        try:
            definition = self._engine.definition(document)
        except InvalidDefinition as refusal:
            return list(refusal.problems)
        problems = list(self._engine.validate(definition))
        try:
            triggers_of(definition, self._engine)
        except InvalidDefinition as refusal:
            problems.extend(refusal.problems)
        return problems

    def code_source(self, workflow: Any) -> CodeSource:
        """A workflow of this process: its id, and the hashes of its document with the workflows that it uses."""
        definition = embedded(self._engine.definition(workflow), self._engine)
        document = written_of(definition)
        return CodeSource(
            definition_id=definition.id,
            source=source_hash(self._deployment.encode(), document),
            document=content_hash(document),
        )

    def expect(self, code: CodeSource, label: DefinitionVersion) -> None:
        """This code is published unchanged: an instance of it can be started without a query."""
        self._runtime.plans.expect(code.document, label.content, label.version)

    def parsed(self, document: Any) -> Definition:
        """The definition as its author wrote it. Raises `DefinitionError` for an invalid document."""
        return bare(self._engine.definition(document))

    async def live_instances(self, definition_id: str) -> int:
        return await self._runtime.store.count(
            self._runtime.tenant, InstanceFilter(definition_ids=(definition_id,), statuses=_LIVE)
        )

    # -- writing -------------------------------------------------------------------------------------------------------

    async def save_draft(
        self,
        document: Any,
        *,
        expected_hash: str | None = None,
        source: Source = Source.API,
        folder: str | None = None,
    ) -> DefinitionVersion:
        """Overwrite the draft, or create a new one. With `expected_hash`, raises `VersionConflict` unless the latest version has
        that content; an empty hash means that there must be no version yet."""
        definition = self.parsed(document)
        async with self._saving:
            latest = await self._find(definition.id, Which.LATEST)
            found = latest.content if latest is not None else ""
            if expected_hash is not None and expected_hash != found:
                raise VersionConflict(definition.id, expected_hash, found)
            if (
                latest is None
            ):  # A draft may have problems, but its id must be reachable: otherwise it could not be corrected.
                refuse(unreachable(definition.id), definition)
            details = details_of(definition, document, latest, source)
            if folder is not None:
                details = replace(details, folder=folder)
            number = draft_number(latest, definition)
            label, content = self._made(replace(definition, version=number), details)
            return await self._save(label, content, (), expected_hash)

    async def publish(self, definition_id: str, version: int | None = None) -> Published:
        """Publish a version (default: the latest). A published version is indexed again."""
        async with self._saving:
            label = await self.get(definition_id, Which.LATEST if version is None else version)
            return await self._publish_for_all(label)

    async def _publish_for_all(self, label: DefinitionVersion, content: DefinitionContent | None = None) -> Published:
        """Publish, and with `auto_update_consumers` publish the definitions that use the workflow again. A consumer keeps its
        version number, and its running instances keep their content."""
        published = await self._publish(label, content)
        definition, _ = await self._read(published.version)
        if not (definition.options.usable_as_activity and definition.options.auto_update_consumers):
            return published
        updated, refused = list[str](), dict[str, str]()
        for consumer in await consumers_of(self._runtime.store, label.tenant, label.definition_id):
            try:
                await self._publish(consumer)
                updated.append(consumer.definition_id)
            except HoldfastError as refusal:  # The workflow itself is published: report, do not raise.
                refused[consumer.definition_id] = str(refusal)
        return replace(published, consumers_updated=tuple(updated), consumers_refused=refused)

    async def _publish(self, label: DefinitionVersion, content: DefinitionContent | None = None) -> Published:
        """Publish. Workflows that the definition uses as activities become part of its content. `content` is given if it is
        not stored yet."""
        await self.as_activities.refresh()
        is_new = content is not None
        content = await self._stored(label) if content is None else content
        written = definition_of(content)
        definition = embedded(written, self._engine)
        if definition.extra != written.extra:
            made, content = self._made(definition, label.details)
            label = replace(label, content=made.content)
        uses = tuple(part.id for part in parts_of(definition))
        label = replace(label, metadata=replace(label.details, uses=uses).encoded())
        rows = await self.dry_run.indexed(definition, label, is_valid=is_new and definition is written)
        async with held_routes(self._runtime, definition, rows):
            refuse(await check_endpoints(self._runtime, definition, rows), definition)
            saved = await self._save(replace(label, published=True), content, rows)
        await self._schedule(definition)
        names = {"tenant": self._runtime.tenant, "definition_id": label.definition_id}
        telemetry.emit("definition.published", **names, version=label.version)
        return Published(
            version=saved,
            triggers=sum(row.type != AWAITED for row in rows),
            live_instances=await self.live_instances(label.definition_id),
        )

    async def save_and_publish(self, document: Any, *, source: Source = Source.API) -> Published:
        """Save a draft and publish it. Nothing is written if it has problems, or if the same content is published already."""
        await self.as_activities.refresh()
        definition = (await self.dry_run.one(document)).definition
        async with self._saving:
            published = await self._find(definition.id, Which.PUBLISHED)
            if published is not None:
                same, _ = await self._read(published)
                full = embedded(replace(definition, version=same.version), self._engine)
                if write_definition(full) == write_definition(same):
                    return Published(
                        version=published,
                        triggers=len(triggers_of(definition, self._engine)),
                        live_instances=await self.live_instances(definition.id),
                    )
            latest = await self._find(definition.id, Which.LATEST)
            number = draft_number(latest, definition)
            details = details_of(definition, document, latest, source)
            label, content = self._made(replace(definition, version=number), details)
            return await self._publish_for_all(label, content)

    async def publish_new(
        self, checked: Mapping[Place, CheckedDefinition], *, source: Source = Source.API
    ) -> dict[Place, DefinitionVersion]:
        """Publish the definitions that have no version yet, many at once. The others, and definitions with schedules, HTTP
        endpoints or uses of other workflows, are left for `save_and_publish`."""
        async with self._saving:
            return await publish_new(self._runtime, self._engine, checked, source)

    async def retract(self, definition_id: str) -> bool:
        """Retract the published version: it starts no more instances, and running ones continue. False if none was published."""
        runtime = self._runtime
        await self.get(definition_id)
        retracted = await runtime.store.retract(runtime.tenant, definition_id)
        runtime.plans.current.changed()
        await self._schedule(None, definition_id)
        if retracted:
            telemetry.emit("definition.retracted", tenant=runtime.tenant, definition_id=definition_id)
        return retracted

    async def revert(self, definition_id: str, version: int) -> DefinitionVersion:
        """Create a draft with the content of that version; an existing draft is overwritten."""
        async with self._saving:
            old, latest = await self.get(definition_id, version), await self.get(definition_id)
            definition = bare((await self._read(old))[0])
            number = draft_number(latest, definition)
            details = old.details.with_filing_of(latest.details, labels=True, folder=True)
            label, content = self._made(replace(definition, version=number), details)
            return await self._save(label, content, ())

    async def delete(self, definition_id: str) -> int:
        """Delete all versions and return their number. Running instances keep their content."""
        versions = await self.versions(definition_id)
        return sum([await self.delete_version(definition_id, row.version) for row in versions])

    async def delete_version(self, definition_id: str, version: int) -> bool:
        runtime = self._runtime
        label = await self.get(definition_id, version)
        deleted = await runtime.store.delete_version(runtime.tenant, definition_id, version)
        runtime.plans.current.changed()
        if label.published:
            await self._schedule(None, definition_id)
        telemetry.emit("definition.deleted", tenant=runtime.tenant, definition_id=definition_id, version=version)
        return deleted

    async def duplicate(self, definition_id: str, new_id: str, name: str | None = None) -> DefinitionVersion:
        """A draft of another id with the content of the latest version. Raises `VersionConflict` if that id exists."""
        document = await self.content(definition_id)
        return await self.save_draft({**document, "id": new_id, "name": name or new_id, "version": 1}, expected_hash="")

    async def label(
        self, definition_id: str, *, labels: Sequence[str] | None = None, folder: str | None = None
    ) -> DefinitionVersion:
        """Set labels or folder of the latest version. They belong to the version, not to its content."""
        async with self._saving:
            label = await self.get(definition_id)
            details = label.details
            if labels is not None:
                details = replace(details, labels=tuple(labels))
            if folder is not None:
                details = replace(details, folder=folder)
            definition, content = await self._read(label)
            rows = await self.dry_run.indexed(definition, label) if label.published else []
            return await self._save(replace(label, metadata=details.encoded()), content, rows)

    def provided(self, name: str, parts: Iterable[str]) -> ProvidedDefinitions:
        """The definitions that the provider of this name published at the last start."""
        return ProvidedDefinitions(self._runtime, self._engine, name, parts)

    # -- code ----------------------------------------------------------------------------------------------------------

    async def deploy(self, workflow: Any, deployment: str | None = None) -> DefinitionVersion:
        """Deploy a workflow of this process. It is published once per deployment (rule M14): a restart, or a node that is rolled
        out later, does not publish it again. Without a deployment name each content is published when it is first seen."""
        runtime = self._runtime
        await self.as_activities.refresh()
        definition = embedded(self._engine.definition(workflow), self._engine)
        refuse(self._engine.validate(definition), definition)
        plan = self._engine.plan(definition)
        content, document = await runtime.plans.written(plan.definition)
        label = DefinitionVersion(
            tenant=runtime.tenant,
            definition_id=definition.id,
            version=definition.version,
            content=content,
            name=definition.title,
            published=True,
            created=runtime.clock.now(),
            metadata=VersionDetails.of(definition, Source.CODE).encoded(),
        )
        kept = DefinitionContent(
            tenant=runtime.tenant, hash=content, origin=Origin.CODE, created=label.created, document=document
        )
        rows = await self.dry_run.indexed(definition, label)
        refuse(await check_endpoints(runtime, definition, rows), definition)
        saved = await runtime.store.deploy(label, kept, rows, deployment or self._deployment or f"content-{content}")
        runtime.plans.know(plan, content, saved.version)
        runtime.plans.current.changed()
        if saved.published:
            await self._schedule(definition)
        return saved

    # -- helpers -------------------------------------------------------------------------------------------------------

    def _made(self, definition: Definition, details: VersionDetails) -> tuple[DefinitionVersion, DefinitionContent]:
        return made_of(definition, details, self._runtime.tenant, self._runtime.clock.now())

    async def _save(
        self,
        label: DefinitionVersion,
        content: DefinitionContent,
        rows: Sequence[TriggerRow],
        expected: str | None = None,
    ) -> DefinitionVersion:
        saved = await self._runtime.store.save_version(label, content, rows, expected=expected)
        self._runtime.plans.current.changed()
        return saved

    async def _stored(self, label: DefinitionVersion) -> DefinitionContent:
        found = await self._runtime.store.load_content(self._runtime.tenant, label.content)
        if found is None:
            raise DefinitionNotFound(label.definition_id, str(label.version))
        return found

    async def _read(self, label: DefinitionVersion) -> tuple[Definition, DefinitionContent]:
        content = await self._stored(label)
        return definition_of(content), content

    async def _schedule(self, definition: Definition | None, definition_id: str = "") -> None:
        found = () if definition is None else triggers_of(definition, self._engine)
        name = definition_id if definition is None else definition.id
        await Schedules(self._runtime).put(name, [(item.type, item.id, payload) for item, payload in found])
