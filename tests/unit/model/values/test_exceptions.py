from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgspec
import pytest

from holdfast.errors import ActivityFault, InvalidInput
from holdfast.model.problem import Problem
from holdfast.model.values import KeptException, TypeRegistry, check, decode, encode, exception_names


class Declined(ValueError):
    def __init__(self, order: str, *, reason: str) -> None:
        self.order = order
        self.reason = reason
        super().__init__(f"Order {order} was declined: {reason}")


@dataclass
class Broken:
    def __repr__(self) -> str:
        raise RuntimeError


class Unspeakable(Exception):
    def __str__(self) -> str:
        raise RuntimeError


def through_json(value: Any, types: TypeRegistry) -> Any:
    return decode(msgspec.json.decode(msgspec.json.encode(encode(value, types))), types)


def test_a_registered_exception_comes_back_as_its_class() -> None:
    error = Declined("o1", reason="no money")
    error.add_note("seen")
    back = through_json({"error": error}, TypeRegistry([Declined]))["error"]
    assert type(back) is Declined
    assert (str(back), back.order, back.reason) == (str(error), "o1", "no money")
    assert back.__notes__ == ["seen"]


def test_one_that_is_not_registered_keeps_its_names() -> None:
    back = through_json(Declined("o1", reason="no money"), TypeRegistry())
    assert isinstance(back, KeptException)
    assert str(back) == "Order o1 was declined: no money"
    assert exception_names(back) == (f"{__name__}:Declined", "ValueError", "Exception", "BaseException")
    assert back.attributes == {"order": "o1", "reason": "no money"}
    known = through_json(back, TypeRegistry([Declined]))
    assert type(known) is Declined
    assert through_json(back, TypeRegistry()) == back


@pytest.mark.parametrize(
    "error",
    [
        ValueError("x", 1, (2,)),
        KeyError("key"),
        UnicodeDecodeError("utf-8", b"\xff", 0, 1, "bad"),
        FileNotFoundError(2, "No such file", "name"),
        StopIteration(5),
        ActivityFault("message", code="7"),
        InvalidInput([Problem(path="/a", code="c", message="m", remedy="r")], name="w"),
    ],
)
def test_exceptions_of_python_and_ours_need_no_registration(error: BaseException) -> None:
    check(error, "error", TypeRegistry())
    back = through_json(error, TypeRegistry([Problem]))
    assert type(back) is type(error)
    assert str(back) == str(error)
    assert back.args == error.args


def test_groups_carry_their_members() -> None:
    back = through_json(
        ExceptionGroup("several", [ValueError("a"), Declined("o", reason="r")]), TypeRegistry([Declined])
    )
    assert [type(item) for item in back.exceptions] == [ValueError, Declined]


def test_luggage_that_cannot_be_kept_becomes_text() -> None:
    error = ValueError("x", object())
    error.place = Broken  # type: ignore[attr-defined] # anybody may hang anything on an exception
    back = through_json(error, TypeRegistry())
    assert back.args[0] == "x"
    assert back.args[1].startswith("<object object")
    assert "Broken" in back.place
    assert through_json(ValueError(type("Odd", (), {"__repr__": lambda self: 1 / 0})()), TypeRegistry()).args == (
        "<Odd>",
    )


def test_an_exception_with_a_broken_text_is_still_a_value() -> None:
    assert encode(Unspeakable())["message"] == "Unspeakable"


def test_names_of_classes() -> None:
    registry = TypeRegistry()
    registry.register(Declined, name="declined")
    assert exception_names(Declined, registry)[:2] == ("declined", "ValueError")
