from __future__ import annotations

import sys
from dataclasses import dataclass
from enum import Enum
from types import ModuleType
from typing import TYPE_CHECKING, Annotated, Any, Generic, TypeVar

import msgspec
import pydantic
import pytest

from holdfast.errors import ActivityDeclarationError, ActivityFault, PluginError
from holdfast.model.values import TypeRegistry, decode, encode

if TYPE_CHECKING:
    from nowhere import Missing  # type: ignore[import-not-found] # such imports exist for type checkers only

T = TypeVar("T")


class Colour(Enum):
    RED = 1


@dataclass
class Leaf:
    colour: Colour


class Middle(msgspec.Struct):
    leaves: dict[str, list[Leaf | None]]


class Outer(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(arbitrary_types_allowed=True)
    middle: Annotated[Middle | None, "a note"] = None


@dataclass
class Partly:
    leaf: Leaf
    missing: Missing | None = None


@dataclass
class Node:
    next: Node | None = None


@dataclass
class Box(Generic[T]):
    content: T


@dataclass
class Boxes:
    box: Box[Leaf]


def test_names_are_module_and_qualname() -> None:
    registry = TypeRegistry([Leaf])
    assert registry.name_of(Leaf) == f"{__name__}:Leaf"
    assert registry.find(f"{__name__}:Leaf") is Leaf
    assert registry.find("other:Leaf") is None


def test_classes_that_the_parts_name_are_registered_along() -> None:
    assert {Outer, Middle, Leaf, Colour} <= set(TypeRegistry([Outer]))
    assert set(TypeRegistry([Node])) == {Node}
    assert {Boxes, Box, Leaf} <= set(TypeRegistry([Boxes]))


def test_an_annotation_that_does_not_resolve_hides_no_other() -> None:
    assert Leaf in TypeRegistry([Partly])


def test_public_names_and_aliases() -> None:
    registry = TypeRegistry()
    registry.register(Colour, name="colour", aliases=["old:Colour"])
    assert encode(Colour.RED, registry)["of"] == "colour"
    for name in ("colour", "old:Colour", f"{__name__}:Colour"):
        assert decode({"$t": "enum", "of": name, "v": "RED"}, registry) is Colour.RED


def test_a_name_claimed_twice_is_refused() -> None:
    registry = TypeRegistry()
    registry.register(Leaf, name="thing")
    with pytest.raises(PluginError, match="claimed"):
        registry.register(Node, name="thing")
    other = TypeRegistry()
    other.register(Node, name="thing")
    with pytest.raises(PluginError, match="claimed"):
        registry.merged(other)


def test_extending_leaves_the_original_alone() -> None:
    registry = TypeRegistry([Colour])
    extended = registry.including(Node, Colour)
    assert Node in extended
    assert Colour in extended
    assert Node not in registry
    assert Node in registry.merged(TypeRegistry([Node]))


@pytest.mark.parametrize("thing", [int, dict, object, print, "text", Any])
def test_what_is_no_value_type_is_refused(thing: Any) -> None:
    with pytest.raises(ActivityDeclarationError, match="dataclasses"):
        TypeRegistry().register(thing)


def test_exceptions_of_python_and_ours_are_always_known() -> None:
    assert TypeRegistry().find("ValueError") is ValueError
    assert ActivityFault in TypeRegistry()
    assert TypeRegistry().find("holdfast.errors:ActivityFault") is ActivityFault


@dataclass
class Moved:
    name: str


def test_a_class_that_moved_is_found_where_it_can_still_be_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    """An import shim in the old module helps; a module that is not loaded is not imported."""
    old = ModuleType("old_shop")
    old.Item = Moved  # type: ignore[attr-defined] # a module of this test
    monkeypatch.setitem(sys.modules, "old_shop", old)

    assert TypeRegistry([Moved]).find("old_shop:Item") is Moved
    assert TypeRegistry().find("old_shop:Item") is None  # Only registered classes.
    assert TypeRegistry([Moved]).find("old_shop:ModuleType") is None
    assert TypeRegistry([Moved]).find("wave:Wave_read") is None
    assert "wave" not in sys.modules


def test_stored_data_may_have_another_name_for_a_class() -> None:
    types = TypeRegistry()
    types.register(Moved, aliases=["shop:Item"])

    assert decode({"$t": "object", "of": "shop:Item", "v": {"name": "a"}}, types) == Moved("a")
