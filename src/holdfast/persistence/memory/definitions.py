"""Definitions in memory."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from holdfast.errors import OriginRefused
from holdfast.model.catalog import (
    DefinitionContent,
    DefinitionQuery,
    DefinitionVersion,
    NewVersion,
    Origin,
    TriggerRow,
    Which,
    check_expected,
    check_origin,
)
from holdfast.model.changes import DEFINITIONS, of_topic
from holdfast.model.listing import folded
from holdfast.persistence.memory.tables import MemoryStoreBase


class MemoryDefinitions(MemoryStoreBase):
    async def epoch(self) -> int:
        return self._tables.epoch

    async def save_version(
        self,
        label: DefinitionVersion,
        content: DefinitionContent,
        triggers: Sequence[TriggerRow] = (),
        *,
        expected: str | None = None,
    ) -> DefinitionVersion:
        check_origin(content)
        versions = self._versions(label.tenant, label.definition_id)
        latest = max(versions, key=lambda row: row.version, default=None)
        check_expected(label.definition_id, "" if latest is None else latest.content, expected)
        self._refuse_mixed_origin(label, content)
        self._tables.contents.setdefault((content.tenant, content.hash), content)
        previous = self._tables.versions.get((label.tenant, label.definition_id, label.version))
        if label.published or (previous is not None and previous.published):
            self._unpublish(label.tenant, label.definition_id)
        self._tables.versions[label.tenant, label.definition_id, label.version] = label
        if label.published:
            self._put_triggers(label, triggers)
        return self._settled(label)

    async def publish_new(self, tenant: str, versions: Sequence[NewVersion]) -> Sequence[DefinitionVersion]:
        for item in versions:
            check_origin(item.content)
        known = {definition_id for owner, definition_id, _ in self._tables.versions if owner == tenant}
        saved = []
        for item in versions:
            place = (tenant, item.content.hash)
            stored = self._tables.contents.get(place, item.content)
            if item.label.definition_id in known or stored.origin is not item.content.origin:
                continue
            self._tables.contents[place] = stored
            label = replace(item.label, published=True, latest=True)
            self._tables.versions[tenant, label.definition_id, label.version] = label
            self._put_triggers(label, item.triggers)
            saved.append(label)
        self._tables.epoch += bool(saved)
        return saved

    async def deploy(
        self, label: DefinitionVersion, content: DefinitionContent, triggers: Sequence[TriggerRow], deployment: str
    ) -> DefinitionVersion:
        check_origin(content)
        self._refuse_mixed_origin(label, content)
        versions = self._versions(label.tenant, label.definition_id)
        known = next((row for row in versions if row.content == content.hash), None)
        place = (label.tenant, label.definition_id, deployment)
        if place in self._tables.deployments and known is not None:
            return known
        self._tables.contents.setdefault((content.tenant, content.hash), content)
        number = known.version if known is not None else max((row.version for row in versions), default=0) + 1
        first = place not in self._tables.deployments
        made = replace(known or label, version=number, content=content.hash, published=first)
        if first:
            self._unpublish(label.tenant, label.definition_id)
        self._tables.versions[label.tenant, label.definition_id, number] = made
        if first:
            self._tables.deployments[place] = content.hash
            self._put_triggers(made, [replace(row, version=number) for row in triggers])
        return self._settled(made)

    async def retract(self, tenant: str, definition_id: str) -> bool:
        found = self._unpublish(tenant, definition_id)
        self._tables.epoch += found
        return found

    async def delete_version(self, tenant: str, definition_id: str, version: int) -> bool:
        label = self._tables.versions.get((tenant, definition_id, version))
        if label is None:
            return False
        if label.published:
            self._unpublish(tenant, definition_id)
        del self._tables.versions[tenant, definition_id, version]
        self._settled(label)
        return True

    async def find_version(
        self, tenant: str, definition_id: str, version: int | Which = Which.PUBLISHED
    ) -> DefinitionVersion | None:
        for row in self._versions(tenant, definition_id):
            if row.version == version or (version == Which.LATEST and row.latest):
                return row
            if version == Which.PUBLISHED and row.published:
                return row
        return None

    async def list_versions(self, tenant: str, query: DefinitionQuery) -> tuple[Sequence[DefinitionVersion], int]:
        found = [row for row in self._tables.versions.values() if row.tenant == tenant and _matches(row, query)]
        found.sort(key=lambda row: (row.definition_id, row.version))
        found.sort(key=lambda row: _sort_value(row, query.sort), reverse=query.descending)
        return found[query.offset : query.offset + query.limit], len(found)

    async def load_content(self, tenant: str, content: str) -> DefinitionContent | None:
        return self._tables.contents.get((tenant, content))

    async def find_triggers(self, tenant: str, keys: Sequence[int]) -> Sequence[TriggerRow]:
        return [row for row in await self.list_triggers(tenant) if row.key in keys]

    async def list_triggers(self, tenant: str, definition_id: str | None = None) -> Sequence[TriggerRow]:
        found = [
            row
            for row in self._tables.triggers.values()
            if row.tenant == tenant and definition_id in {None, row.definition_id}
        ]
        return sorted(found, key=lambda row: (row.definition_id, row.id))

    def _versions(self, tenant: str, definition_id: str) -> list[DefinitionVersion]:
        return [row for key, row in self._tables.versions.items() if key[:2] == (tenant, definition_id)]

    def _refuse_mixed_origin(self, label: DefinitionVersion, content: DefinitionContent) -> None:
        hashes = {row.content for row in self._versions(label.tenant, label.definition_id)} | {content.hash}
        for content_hash in hashes:
            stored = self._tables.contents.get((label.tenant, content_hash))
            if stored is not None and stored.origin is Origin.CODE and content.origin is Origin.DOCUMENT:
                raise OriginRefused(
                    f"Definition '{label.definition_id}' is written in code. Change the code, or save the document "
                    "under another id."
                )

    def _unpublish(self, tenant: str, definition_id: str) -> bool:
        for key in [key for key, row in self._tables.triggers.items() if key[:2] == (tenant, definition_id)]:
            del self._tables.triggers[key]
        published = [row for row in self._versions(tenant, definition_id) if row.published]
        for row in published:
            self._tables.versions[tenant, definition_id, row.version] = replace(row, published=False)
        return bool(published)

    def _put_triggers(self, label: DefinitionVersion, triggers: Sequence[TriggerRow]) -> None:
        for row in triggers:
            self._tables.triggers[label.tenant, label.definition_id, row.id] = row

    def _settled(self, label: DefinitionVersion) -> DefinitionVersion:
        """Mark the latest version, and increment the epoch."""
        versions = self._versions(label.tenant, label.definition_id)
        highest = max((row.version for row in versions), default=0)
        for row in versions:
            key = (row.tenant, row.definition_id, row.version)
            self._tables.versions[key] = replace(row, latest=row.version == highest)
        self._tables.epoch += 1
        self._changed(of_topic(DEFINITIONS))
        return self._tables.versions.get((label.tenant, label.definition_id, label.version), label)


def _matches(row: DefinitionVersion, query: DefinitionQuery) -> bool:
    text = folded(query.search)
    return (
        (query.which is Which.ALL or (row.latest if query.which is Which.LATEST else row.published))
        and (not query.definition_ids or row.definition_id in query.definition_ids)
        and (not text or text in folded(row.name) or text in folded(row.definition_id))
    )


def _sort_value(row: DefinitionVersion, sort: str) -> tuple[str, float]:
    match sort:
        case "created":
            return "", row.created.timestamp()
        case "version":
            return "", row.version
        case _:
            return row.name, 0.0
