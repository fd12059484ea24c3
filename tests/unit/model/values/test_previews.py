from __future__ import annotations

from decimal import Decimal
from typing import Any

import msgspec
import pytest
from hypothesis import given, strategies as st

from holdfast.model.values import Omitted, decode, encode, preview


@pytest.mark.parametrize("value", [None, True, 5, 1.5, "text", "täxt", [1, {"a": None}], float("inf"), Decimal("1.5")])
def test_small_values_are_shown_as_they_are_encoded(value: Any) -> None:
    assert preview(value) == encode(value)


def test_large_values_give_type_size_and_hash() -> None:
    shown = preview(["x" * 100] * 100)
    assert shown["$t"] == "omitted"
    assert shown["type"] == "list"
    assert shown["size"] == len(msgspec.json.encode(["x" * 100] * 100))
    assert shown["hash"] == preview(["x" * 100] * 100)["hash"] != preview(["y" * 100] * 100)["hash"]
    assert decode(shown) == Omitted(type="list", size=shown["size"], hash=shown["hash"])
    assert encode(decode(shown)) == shown
    assert preview(10**400)["type"] == "int" if len(hex(10**400)) > 1024 else preview(10**400)["$t"] == "int"


def test_a_preview_does_not_change_with_the_value() -> None:
    value = {"items": [1]}
    shown = preview(value)
    value["items"].append(2)
    assert shown == {"items": [1]}


def test_what_is_no_value_is_named_only() -> None:
    assert preview([print]) == {"$t": "omitted", "type": "list", "size": None, "hash": None}


@given(st.recursive(st.text() | st.integers(), st.lists), st.integers(min_value=120, max_value=400))
def test_a_preview_is_never_larger_than_the_limit(value: Any, limit: int) -> None:
    assert len(msgspec.json.encode(preview(value, limit))) <= limit
