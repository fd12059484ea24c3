"""Type names: parsed, printed, and known or not."""

from __future__ import annotations

import pytest

from holdfast.model.types.names import BUILT_IN, TypeName, is_known_type, parse_type


@pytest.mark.parametrize(
    "text", [*sorted(BUILT_IN), "list[string]?", "list[list[integer?]]", "shop:Order", "shop:Order?"]
)
def test_a_type_name_is_printed_as_it_was_written(text: str) -> None:
    assert str(parse_type(text)) == text


def test_spaces_around_a_name_are_dropped() -> None:
    assert parse_type(" list[ string ] ") == TypeName("list", TypeName("string"))


@pytest.mark.parametrize("text", ["", "?", "list[", "two words", "list[]", ":", "x" * 301])
def test_an_invalid_name_is_refused(text: str) -> None:
    assert not is_known_type(text)
    with pytest.raises(ValueError, match="type"):
        parse_type(text)


def test_a_class_is_known_by_its_module_and_a_bare_name_is_not() -> None:
    assert is_known_type("list[shop:Order]")
    assert not is_known_type("Order")
