"""The catalog of definitions: found by id, version id, name or activity type name; plans are compiled once."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from holdfast.model.definition import ActivityNode, Definition
from holdfast.runtime.plans import catalog as module
from holdfast.runtime.plans.catalog import CompiledPlans, DefinitionCatalog, activity_type_name


def definition(id: str, version: int = 1, **more: Any) -> Definition:
    return Definition(id=id, version=version, root=ActivityNode(id="root", type="Sequence"), **more)


def test_the_latest_version_is_found_unless_one_is_named() -> None:
    found = DefinitionCatalog([definition("order", 2), definition("order", 10), definition("order", 3)])

    assert [found.find("order").version, found.find("order", version=3).version] == [10, 3]  # type: ignore[union-attr]
    assert found.find("order", version=4) is None
    assert found.find("refund") is None


@pytest.mark.parametrize("reference", ["order", "v-17", "Place an order", "PlaceAnOrder"])
def test_every_name_of_a_definition_finds_it(reference: str) -> None:
    known = definition("order", name="Place an order", metadata={"version_id": "v-17"})

    assert DefinitionCatalog([known]).find(reference) is known


def test_an_id_goes_before_a_name() -> None:
    by_id, by_name = definition("order"), definition("other", name="order")

    assert DefinitionCatalog([by_name, by_id]).find("order") is by_id


def test_adding_keeps_other_versions_and_putting_does_not() -> None:
    found = DefinitionCatalog([definition("order", 1)])
    found.add(definition("order", 2))
    assert [item.version for item in found] == [1, 2]

    found.put(definition("order", 3))
    assert [item.version for item in found] == [3]
    found.remove("order")
    assert not list(found)


def test_type_names_are_written_in_camel_case() -> None:
    assert activity_type_name("Subworkflow test-2") == "SubworkflowTest2"


def test_a_plan_is_compiled_once_and_the_least_used_goes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PLAN_NODES_MAX", 6)
    compiled: list[str] = []

    def compile_one(item: Definition) -> Any:
        compiled.append(item.id)
        return SimpleNamespace(by_key=dict.fromkeys("xyz"))

    cache = CompiledPlans(compile_one)
    a, b, c = (definition(name) for name in "abc")
    assert cache.plan(a) is cache.plan(a)
    for item in (b, a, c, a, b):
        cache.plan(item)

    assert compiled == ["a", "b", "c", "b"]
