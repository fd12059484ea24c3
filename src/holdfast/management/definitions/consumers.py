"""Consumers of a workflow: published definitions that use it as an activity, directly or through another workflow.

A published definition holds the workflows that it uses (rule M14). Its version lists their ids, so that the consumers of a
workflow are found without reading every document.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from holdfast.management.definitions.workflow_as_activity import PARTS
from holdfast.model.catalog import DefinitionQuery, DefinitionVersion, Source, Which
from holdfast.ports import Store

PAGE = 1_000
"""Versions read with one statement."""


async def consumers_of(store: Store, tenant: str, definition_id: str) -> Sequence[DefinitionVersion]:
    """Published versions that hold the workflow. A consumer precedes the consumers that hold it: published in this order,
    each of them takes the others in their new form.

    Workflows of code are left out: their deployment resolves what they use.
    """
    found: dict[str, tuple[DefinitionVersion, frozenset[str]]] = {}
    offset = 0
    while True:
        query = DefinitionQuery(which=Which.PUBLISHED, sort="name", limit=PAGE, offset=offset)
        rows, _ = await store.list_versions(tenant, query)
        for row in rows:
            if row.details.source is not Source.CODE:
                uses = await _uses(store, row)
                if definition_id in uses:
                    found[row.definition_id] = (row, uses)
        if len(rows) < PAGE:
            break
        offset += PAGE
    ordered = sorted(found.values(), key=lambda item: (len(item[1] & found.keys()), item[0].definition_id))
    return [row for row, _ in ordered]


async def _uses(store: Store, row: DefinitionVersion) -> frozenset[str]:
    """The ids of the workflows that a version holds. Versions of earlier releases do not list them: read the content."""
    known = row.details.uses
    if known is not None:
        return frozenset(known)
    content = await store.load_content(row.tenant, row.content)
    parts = [] if content is None else msgspec.json.decode(content.document).get(PARTS) or []
    return frozenset(part["id"] for part in parts)
