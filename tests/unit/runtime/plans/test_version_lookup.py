"""Lookup of a version: the version, or the error that says what is missing."""

from __future__ import annotations

import pytest

from holdfast.errors import DefinitionNotFound, DefinitionNotPublished
from holdfast.model.catalog import DefinitionVersion, Which
from holdfast.persistence.memory import MemoryStore
from holdfast.runtime.plans.version_lookup import require_version
from holdfast.testing.store_rows import AT, content


async def store_with(*versions: tuple[int, bool]) -> MemoryStore:
    """A store with these versions of `order`: number and whether it is published."""
    store, kept = MemoryStore(), content("")
    for number, published in versions:
        label = DefinitionVersion(
            definition_id="order", version=number, content=kept.hash, published=published, created=AT
        )
        await store.save_version(label, kept, ())
    return store


@pytest.mark.parametrize(
    ("which", "version"),
    [(Which.PUBLISHED, 1), (Which.LATEST, 2), (Which.LATEST_OR_PUBLISHED, 1), (1, 1), (2, 2)],
)
async def test_the_requested_version_is_found(which: int | Which, version: int) -> None:
    store = await store_with((1, True), (2, False))

    assert (await require_version(store, "", "order", which)).version == version


async def test_without_a_published_version_the_latest_counts_where_it_may() -> None:
    store = await store_with((1, False), (2, False))

    assert (await require_version(store, "", "order", Which.LATEST_OR_PUBLISHED)).version == 2
    with pytest.raises(DefinitionNotPublished):
        await require_version(store, "", "order", Which.PUBLISHED)


@pytest.mark.parametrize("which", [Which.PUBLISHED, Which.LATEST, Which.LATEST_OR_PUBLISHED, 3])
async def test_an_unknown_definition_or_version_is_not_found(which: int | Which) -> None:
    store = await store_with((1, True))
    unknown = "order" if which == 3 else "refund"

    with pytest.raises(DefinitionNotFound, match=unknown):
        await require_version(store, "", unknown, which)


async def test_versions_of_another_tenant_are_not_found() -> None:
    with pytest.raises(DefinitionNotFound):
        await require_version(await store_with((1, True)), "acme", "order", Which.LATEST)
