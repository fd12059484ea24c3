"""Objects converted to a class: every field that does not fit is a problem with its position and the fields of the class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pydantic
import pytest

from holdfast.errors import UnknownValueType
from holdfast.model.types.shape import shaped
from holdfast.model.values import TypeRegistry


@dataclass
class Address:
    city: str


@dataclass
class Order:
    number: int
    to: Address
    note: str = ""


class Payment(pydantic.BaseModel):
    cents: int
    currency: str


TYPES = TypeRegistry([Order, Address, Payment])


def problems(value: Any, cls: type) -> list[tuple[str, str]]:
    return [(item.path, item.remedy) for item in shaped(value, TYPES.name_of(cls), TYPES)[1]]


def test_an_object_that_fits_is_an_object_of_the_class() -> None:
    found, wrong = shaped({"number": 7, "to": {"city": "Rome"}}, TYPES.name_of(Order), TYPES)

    assert found == Order(7, Address("Rome"))
    assert not wrong


@pytest.mark.parametrize(
    ("value", "path"),
    [
        ({"number": 7}, "/to"),
        ({"number": 7, "to": {}}, "/to/city"),
        ({"number": [], "to": {"city": "Rome"}}, "/number"),
    ],
)
def test_a_field_that_does_not_fit_is_named_with_the_fields_of_the_class(value: Any, path: str) -> None:
    assert [found for found, _ in problems(value, Order)] == [path]
    assert problems(value, Order)[0][1].startswith("An Order has: number (integer), ")


def test_a_pydantic_model_names_every_field_at_once() -> None:
    assert [path for path, _ in problems({"cents": "many"}, Payment)] == ["/cents", "/currency"]


def test_no_value_is_a_problem() -> None:
    assert [path for path, _ in problems(None, Order)] == [""]


def test_an_unknown_class_is_an_error() -> None:
    with pytest.raises(UnknownValueType):
        shaped({}, "shop:Nothing", TYPES)
