"""Stored values that the code cannot read: the error names the variable and the class, and no activity faults."""

from __future__ import annotations

import pytest

from holdfast.errors import InvalidState, StateUnreadable, UnknownValueType, UnreadableValue
from holdfast.execution.faults import raise_unreadable
from holdfast.execution.unreadable import VariableUnreadable, unreadable


def test_the_error_names_variable_and_class() -> None:
    found = unreadable(
        "i1", VariableUnreadable("item", UnreadableValue("shop:Item", "its field 'size' has no default."))
    )

    assert (found.instance_id, found.variable, found.type_name) == ("i1", "item", "shop:Item")
    for part in ("'i1'", "variable 'item'", "class 'shop:Item'", "field 'size'", "types={"):
        assert part in str(found)


def test_an_unregistered_class_is_named() -> None:
    found = unreadable("i1", UnknownValueType("shop:Item"), part="payload")

    assert found.type_name == "shop:Item"
    assert "read the payload of instance 'i1'" in str(found)


def test_other_errors_are_damage() -> None:
    assert "damaged, KeyError('b7')" in str(unreadable("i1", KeyError("b7")))
    assert "deep" in str(unreadable("i1", InvalidState("too deep")))


def test_an_error_that_is_complete_stays() -> None:
    error = StateUnreadable("i1", "gone")

    assert unreadable("i2", error) is error


def test_an_unreadable_value_is_no_fault() -> None:
    error = StateUnreadable("", "gone")
    wrapped = ValueError("an expression failed")
    wrapped.__cause__ = error

    with pytest.raises(StateUnreadable):
        raise_unreadable(wrapped)
    cyclic = ValueError("an ordinary fault")
    cyclic.__cause__ = cyclic
    raise_unreadable(cyclic)
