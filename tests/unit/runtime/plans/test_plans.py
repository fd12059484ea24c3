"""Plans of all tenants: apart from each other, and found in the store or among the definitions of this process."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast import Holdfast, Workflow
from holdfast.activities import Event, Sequence, WriteLine
from holdfast.errors import DefinitionError
from holdfast.model.catalog import Which
from holdfast.persistence.memory import MemoryStore
from holdfast.runtime.plans.catalog import DefinitionCatalog
from holdfast.runtime.plans.plans import Plans

ENGINE = Holdfast(entry_points=False)


def workflow(text: str = "a", id: str = "order") -> Workflow:
    return Workflow(Sequence(WriteLine(text), Event("paid")), id=id)


def plans_on(store: MemoryStore, *given: Workflow) -> Plans:
    catalog = DefinitionCatalog([item.definition for item in given])
    return Plans(store, ENGINE.plan, ENGINE.clock.now, catalog)


def text_of(plan: Any) -> str:
    return str(next(node.inputs["text"] for node in plan.definition.root.walk() if node.type == "WriteLine"))


async def test_each_tenant_has_its_own_cache() -> None:
    plans = plans_on(MemoryStore())

    assert plans.of("a") is plans.of("a")
    assert plans.of("a") is not plans.of("b")
    assert plans.of("a").lacking is plans.lacking


async def test_an_epoch_that_a_read_returned_counts_for_every_tenant() -> None:
    plans = plans_on(MemoryStore())
    caches = [plans.of(tenant) for tenant in ("a", "b")]
    plans.saw_epoch(7)

    assert [await cache.current.refresh() for cache in caches] == [7, 7]


async def test_a_definition_of_this_process_goes_before_a_stored_document() -> None:
    store = MemoryStore()
    await plans_on(store).of("").pin(ENGINE.plan(workflow("stored")))

    assert text_of(await plans_on(store, workflow("given")).find("", "order")) == "given"
    assert text_of(await plans_on(store).find("", "order")) == "stored"


async def test_a_definition_of_another_tenant_is_not_found() -> None:
    store = MemoryStore()
    await plans_on(store).of("acme").pin(ENGINE.plan(workflow()))

    with pytest.raises(DefinitionError, match="no workflow 'order'"):
        await plans_on(store).find("", "order")
    assert (await plans_on(store).of("acme").find_version("order", Which.PUBLISHED)) is not None
