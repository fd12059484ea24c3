"""Lookup of a definition version in the store, with a precise error if there is none."""

from __future__ import annotations

from holdfast.errors import DefinitionNotFound, DefinitionNotPublished
from holdfast.model.catalog import DefinitionVersion, Which
from holdfast.ports import Store


async def require_version(store: Store, tenant: str, definition_id: str, which: int | Which) -> DefinitionVersion:
    """The version as it is stored now. Raises `DefinitionNotFound`, or `DefinitionNotPublished` if the published version is
    requested and there are only drafts."""
    wanted = (Which.PUBLISHED, Which.LATEST) if which is Which.LATEST_OR_PUBLISHED else (which,)
    for item in wanted:
        found = await store.find_version(tenant, definition_id, item)
        if found is not None:
            return found
    if which is Which.PUBLISHED and await store.find_version(tenant, definition_id, Which.LATEST) is not None:
        raise DefinitionNotPublished(definition_id)
    raise DefinitionNotFound(definition_id, str(which) if isinstance(which, int) else None)
