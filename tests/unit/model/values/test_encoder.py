from __future__ import annotations

from collections import namedtuple
from dataclasses import InitVar, dataclass, field
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from enum import Enum, Flag, IntEnum, StrEnum, auto
from functools import partial
from typing import Any, NamedTuple
from uuid import UUID, uuid4
from zoneinfo import ZoneInfo

import msgspec
import pydantic
import pytest
from hypothesis import given, strategies as st

from holdfast.errors import InvalidState, UnknownValueType
from holdfast.model.values import TypeRegistry, check, copy, decode, encode


class Colour(Enum):
    RED = "r"
    GREEN = (1, 2)


class Level(IntEnum):
    LOW = 1


class Word(StrEnum):
    YES = "yes"


class Rights(Flag):
    READ = auto()
    WRITE = auto()


@dataclass
class Line:
    article: str
    amount: Decimal
    tags: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Order:
    id: UUID
    placed: datetime
    lines: tuple[Line, ...]
    colour: Colour | None = None


@dataclass
class Derived:
    price: int
    doubled: int = field(init=False)

    def __post_init__(self) -> None:
        self.price += 1
        self.doubled = self.price * 2
        self.memo = "derived"


@dataclass
class WithInitVar:
    total: int
    start: InitVar[int] = 0

    def __post_init__(self, start: int) -> None:
        self.total += start


class Point(msgspec.Struct, frozen=True):
    x: int
    y: float = 0.5


class Pair(NamedTuple):
    left: int
    right: list[int]


OldPair = namedtuple("OldPair", "a b")  # noqa: PYI024 - the untyped form is what is tested


class Customer(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(extra="allow", arbitrary_types_allowed=True)
    name: str
    born: date | None = None
    points: list[Point] = []
    _secret: int = pydantic.PrivateAttr(default=0)


class Numbers(pydantic.RootModel[list[int]]):
    pass


TYPES = TypeRegistry(
    [Colour, Level, Word, Rights, Order, Derived, WithInitVar, Point, Pair, OldPair, Customer, Numbers]
)


def through_json(value: Any, types: TypeRegistry = TYPES) -> Any:
    return decode(msgspec.json.decode(msgspec.json.encode(encode(value, types))), types)


zones = st.sampled_from([UTC, timezone(timedelta(hours=-3, minutes=-30)), ZoneInfo("Europe/Berlin"), ZoneInfo("UTC")])
datetimes = st.datetimes(timezones=zones, allow_imaginary=True)
scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(min_value=-(10**40), max_value=10**40),
    st.floats(allow_nan=False),
    st.decimals(allow_nan=False),
    st.text(st.characters(codec=None)),
    st.binary(),
    st.dates(),
    st.times(),
    datetimes,
    st.timedeltas(),
    st.uuids(),
    st.sampled_from([*Colour, *Level, *Word, Rights.READ, Rights.READ | Rights.WRITE, Rights(0)]),
)
lines = st.builds(Line, st.text(), st.decimals(allow_nan=False), st.lists(st.text(), max_size=3))
objects = st.one_of(
    lines,
    st.builds(Order, st.uuids(), datetimes, st.lists(lines, max_size=2).map(tuple), st.sampled_from([None, *Colour])),
    st.builds(Point, st.integers(), st.floats(allow_nan=False)),
    st.builds(Pair, st.integers(), st.lists(st.integers(), max_size=3)),
    st.builds(Customer, name=st.text(), points=st.lists(st.builds(Point, st.integers()), max_size=2)),
)
values = st.recursive(
    scalars | objects,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.lists(inner, max_size=4).map(tuple),
        st.sets(scalars, max_size=4),
        st.frozensets(scalars, max_size=4),
        st.dictionaries(st.text(), inner, max_size=4),
        st.dictionaries(scalars, inner, max_size=4),
        st.dictionaries(st.sampled_from(["$t", "v", "of", "$python"]), inner, max_size=3),
    ),
    max_leaves=12,
)


def same(left: Any, right: Any) -> bool:
    """Equal, and of the same types all the way down (1 == True, but not for us)."""
    if type(left) is not type(right):
        return False
    if isinstance(left, list | tuple):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, dict):
        return len(left) == len(right) and all(
            same(one, other) and same(left[one], right[other]) for one, other in zip(left, right, strict=True)
        )
    return bool(left == right)


@given(values)
def test_a_value_comes_back_the_same_through_json(value: Any) -> None:
    check(value, "value", TYPES)
    assert same(through_json(value), value)


@given(values)
def test_encoding_gives_plain_json_only(value: Any) -> None:
    def assert_plain(data: Any) -> None:
        assert type(data) in (str, int, float, bool, type(None), list, dict)
        if type(data) is list:
            for item in data:
                assert_plain(item)
        if type(data) is dict:
            assert all(type(key) is str for key in data)
            for item in data.values():
                assert_plain(item)

    assert_plain(encode(value))


@given(values)
def test_a_copy_is_equal_and_shares_no_list_or_dict(value: Any) -> None:
    def containers(item: Any) -> list[Any]:
        if isinstance(item, list | tuple):
            return [each for inner in item for each in containers(inner)] + ([item] if isinstance(item, list) else [])
        if isinstance(item, dict):
            return [item, *(each for inner in item.values() for each in containers(inner))]
        return []

    twin = copy(value)
    assert same(twin, value)
    assert not {id(item) for item in containers(value)} & {id(item) for item in containers(twin)}


@pytest.mark.parametrize("text", ["nan", "inf", "-inf"])
def test_floats_that_json_lacks(text: str) -> None:
    assert repr(through_json(float(text))) == text


@pytest.mark.parametrize("text", ["NaN", "sNaN", "Infinity", "-0.00", "1E+500", "1.10"])
def test_decimals_keep_their_writing(text: str) -> None:
    assert str(through_json(Decimal(text))) == text


@pytest.mark.parametrize("number", [2**63 - 1, 2**63, -(2**63), -(2**63) - 1, [10**5000], [2**70] * 20])
def test_ints_of_any_size(number: Any) -> None:
    assert through_json(number) == number


def test_a_zone_keeps_its_name_and_fold() -> None:
    twice = datetime(2030, 10, 27, 2, 30, tzinfo=ZoneInfo("Europe/Berlin"), fold=1)
    back = through_json(twice)
    assert back.tzinfo is ZoneInfo("Europe/Berlin")
    assert back.fold == 1
    assert back.utcoffset() == twice.utcoffset()


def test_a_zone_that_this_machine_lacks_keeps_the_moment() -> None:
    stored = {"$t": "datetime", "v": "2030-05-01T12:00:00+02:00", "zone": "Nowhere/Atlantis"}
    assert decode(stored) == datetime(2030, 5, 1, 10, tzinfo=UTC)


def test_a_time_of_day_with_a_zone() -> None:
    value = time(9, 30, tzinfo=ZoneInfo("Europe/Berlin"))
    assert through_json(value) == value
    assert through_json(value).tzinfo is value.tzinfo


def test_a_long_list_of_one_kind_is_encoded_as_a_new_list() -> None:
    for items in ([1] * 50, ["a"] * 50, [1.5] * 50, [True] * 50, ["ä"] * 50, [None] * 50, [1, "a"] * 50):
        assert encode(items) == items
        assert encode(items) is not items


def test_a_dict_that_looks_like_a_tag_stays_data() -> None:
    looks: list[Any] = [{"$t": "decimal", "v": "1"}, {"$t": {"$t": "x"}}, {"a": {"$t": 5}}, {"$t": []}]
    for data in looks:
        assert through_json(data) == data


def test_what_a_constructor_would_change_is_kept_as_it_was() -> None:
    value = Derived(1)
    assert (value.price, value.doubled) == (2, 4)
    back = through_json(value)
    assert (back.price, back.doubled, back.memo) == (2, 4, "derived")
    assert through_json(WithInitVar(5, 3)) == WithInitVar(8)


def test_pydantic_models_keep_extras_privates_and_what_was_set() -> None:
    value = Customer.model_validate({"name": "Ada", "nick": "A", "points": []})
    value._secret = 7
    back = through_json(value)
    assert isinstance(back, Customer)
    assert back == value
    assert back._secret == 7
    assert back.model_extra == {"nick": "A"}
    assert back.model_fields_set == value.model_fields_set
    assert through_json(Numbers([1, 2])) == Numbers([1, 2])


def test_named_tuples_come_back_as_themselves() -> None:
    back = through_json(OldPair(1, (2,)))
    assert type(back) is OldPair
    assert back == OldPair(1, (2,))


def test_a_class_may_grow_and_lose_parts_while_instances_sleep() -> None:
    stored = {"$t": "object", "of": TYPES.name_of(Line), "v": {"article": "x", "amount": 1, "gone": True}}
    assert decode(stored, TYPES) == Line("x", 1, [])  # type: ignore[arg-type] # what the data says
    with pytest.raises(InvalidState, match=r"'article'.*no default"):
        decode({"$t": "object", "of": TYPES.name_of(Line), "v": {}}, TYPES)


def test_nothing_is_imported_because_data_names_it() -> None:
    for tag in ("object", "enum"):
        with pytest.raises(UnknownValueType, match="os:path"):
            decode({"$t": tag, "of": "os:path", "v": {}}, TYPES)
    with pytest.raises(UnknownValueType):
        decode({"$t": "pickle", "v": "gASVAAA="}, TYPES)
    with pytest.raises(UnknownValueType):
        decode(encode(Point(1)), TypeRegistry())


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(), inner, max_size=4)
        | st.fixed_dictionaries(
            {
                "$t": st.sampled_from(["dict", "tuple", "set", "datetime", "enum", "object", "error", "int", "text"])
                | inner
            },
            optional={
                "v": inner,
                "of": st.sampled_from([TYPES.name_of(Colour), TYPES.name_of(Point), "x"]),
                "args": inner,
            },
        )
    ),
    max_leaves=12,
)


@given(json_values)
def test_data_that_nobody_encoded_gives_one_of_two_errors(data: Any) -> None:
    try:
        decode(data, TYPES)
    except (InvalidState, UnknownValueType):
        pass


def test_data_nested_too_deep_is_refused() -> None:
    data: Any = 1
    for _ in range(5000):
        data = [data]
    with pytest.raises(InvalidState, match="nested deeper"):
        decode(data)


def test_sets_give_one_text_whatever_their_order() -> None:
    words = [str(uuid4()) for _ in range(20)]
    assert encode(set(words))["v"] == sorted(words)


def test_partial_is_no_value() -> None:
    with pytest.raises(TypeError, match="partial"):
        encode(partial(print))
