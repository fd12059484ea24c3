"""Summaries and details of definitions."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

import msgspec

from holdfast.errors import DefinitionNotFound
from holdfast.model.catalog import DefinitionQuery, DefinitionVersion, Which
from holdfast.server.backend import Backend
from holdfast.server.problems import Refusal
from holdfast.server.schemas.definitions import DefinitionDetail, DefinitionSummary

BATCH = 1000


async def versions(server: Backend, query: DefinitionQuery) -> list[DefinitionVersion]:
    """All of them, page by page: stores hold hundreds of definitions, not millions."""
    found: list[DefinitionVersion] = []
    while True:
        wanted = msgspec.structs.replace(query, limit=BATCH, offset=len(found))
        page, total = await server.store.list_versions(server.tenant, wanted)
        found.extend(page)
        if not page or len(found) >= total:
            return found


async def summaries(server: Backend, search: str = "") -> list[DefinitionSummary]:
    """One per definition: its latest version."""
    latest = await versions(server, DefinitionQuery(which=Which.LATEST, search=search))
    published = {
        item.definition_id: item.version for item in await versions(server, DefinitionQuery(which=Which.PUBLISHED))
    }
    found: list[DefinitionSummary] = []
    for item in latest:
        with suppress(LookupError):  # deleted since the list was read
            found.append(await _summary(server, item, item.version, published.get(item.definition_id)))
    return found


async def summary(server: Backend, label: DefinitionVersion) -> DefinitionSummary:
    store, tenant, name = server.store, server.tenant, label.definition_id
    latest = await store.find_version(tenant, name, Which.LATEST)
    published = await store.find_version(tenant, name, Which.PUBLISHED)
    return await _summary(server, label, (latest or label).version, None if published is None else published.version)


async def _summary(server: Backend, label: DefinitionVersion, latest: int, published: int | None) -> DefinitionSummary:
    facts, details = await server.facts(label.content), label.details
    return DefinitionSummary(
        id=label.definition_id,
        name=label.name or label.definition_id,
        description=details.description or None,
        version=label.version,
        latest_version=latest,
        published_version=published,
        is_published=published == label.version,
        has_draft=published is None or published < latest,
        folder=details.folder,
        labels=list(details.labels),
        origin=details.source.value,
        updated=label.created,
        content_hash=label.content,
        tools=facts.tools,
        usable_as_activity=details.usable_as_activity,
        activity_count=facts.activity_count,
    )


async def find(server: Backend, definition_id: str, version: str | int = "latest") -> DefinitionVersion:
    found = await server.store.find_version(server.tenant, definition_id, which(version))
    if found is None:
        raise DefinitionNotFound(definition_id, None if version == "latest" else str(version))
    return found


def which(text: str | int) -> int | Which:
    if isinstance(text, int):
        return text
    if text in {"latest", "published"}:
        return Which(text)
    if text.isascii() and text.isdigit() and 0 < int(text) < 2**31:
        return int(text)
    raise Refusal(422, "version.invalid", f"'{text}' is not a version. Use latest, published or a number.")


async def detail(server: Backend, label: DefinitionVersion) -> DefinitionDetail:
    return DefinitionDetail(
        summary=await summary(server, label),
        document=label.details.filed(await server.document(label.content)),
        etag=f'"{label.content}"',
    )


def filtered(
    items: Sequence[DefinitionSummary],
    *,
    labels: Sequence[str] = (),
    folder: str | None = None,
    state: str = "all",
    origin: str | None = None,
) -> list[DefinitionSummary]:
    wanted = set(labels)
    return [
        item
        for item in items
        if wanted <= set(item.labels)
        and (folder is None or item.folder == folder or item.folder.startswith(f"{folder}/"))
        and (state == "all" or (item.has_draft if state == "draft" else item.published_version is not None))
        and (origin is None or item.origin == origin)
    ]
