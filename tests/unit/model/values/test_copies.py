"""Copies of values: mutable parts are new, immutable parts are shared."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pytest

from holdfast.errors import ValueRefused
from holdfast.model.values import copy


@dataclass(frozen=True)
class Frozen:
    items: tuple[int, ...]
    note: Any = None


def test_copies_keep_what_is_immutable() -> None:
    moment = datetime(2030, 1, 1, tzinfo=UTC)
    for value in ((1, "a", (2,)), frozenset({1}), Frozen((1, 2)), moment, "text"):
        assert copy(value) is value
    mutable = Frozen((1,), note=[1])
    twin = copy(mutable)
    assert twin == mutable
    assert twin is not mutable
    assert twin.note is not mutable.note
    error = ValueError("x")
    assert copy([error])[0] is error


def test_a_copied_set_is_another_set() -> None:
    value = {1, (2, 3)}
    twin = copy(value)
    twin.add(5)
    assert value == {1, (2, 3)}


def test_an_object_that_cannot_be_rebuilt_is_refused_by_copy() -> None:
    @dataclass
    class Stubborn:
        number: int

        def __post_init__(self) -> None:
            if self.number < 0:
                raise ValueError("negative")

    value = Stubborn(1)
    value.number = -1
    with pytest.raises(ValueRefused, match="negative"):
        copy({"a": value}, "x")
