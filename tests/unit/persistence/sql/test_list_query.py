"""Conditions, cursors and orders of lists, as text. The plans of the databases are in tests/integration/test_list_plans.py."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from holdfast.model.listing import InstanceFilter, InstanceQuery, InstanceSort, encode_cursor
from holdfast.persistence.sql.dialect import Dialect
from holdfast.persistence.sql.list_query import (
    after_cursor,
    begins_with,
    is_selective,
    matches_text,
    order_of,
    own_conditions,
    shared_conditions,
)

PAIRS = Dialect(name="pairs")
SINGLE = Dialect(name="single", compares_pairs=False, nulls_lowest=False)


def query(sort: InstanceSort, value: str | int | None = 7, *, descending: bool = False) -> InstanceQuery:
    return InstanceQuery(sort=sort, descending=descending, cursor=encode_cursor(sort, value, "i7"))


def test_conditions_are_split_by_their_table() -> None:
    filter = InstanceFilter(
        statuses=("faulted",), ids=("a", "b"), system=False, created_from=datetime(1970, 1, 1, tzinfo=UTC)
    )

    assert shared_conditions(filter) == (("status in (?)", "is_system = ?"), ("faulted", 0))
    assert own_conditions(filter) == (("id in (?, ?)", "created >= ?"), ("a", "b", 0))
    assert own_conditions(InstanceFilter()).text == "1 = 1"


@pytest.mark.parametrize(
    ("filter", "expected"),
    [
        (InstanceFilter(correlation_ids=("k",)), True),
        (InstanceFilter(parent_id="p"), True),
        (InstanceFilter(has_incidents=True), True),
        (InstanceFilter(has_incidents=False), False),
        (InstanceFilter(statuses=("faulted",), definition_ids=("d",)), False),
    ],
)
def test_selective_filters_name_few_instances(filter: InstanceFilter, expected: bool) -> None:
    assert is_selective(filter) is expected


def test_a_cursor_is_one_range() -> None:
    assert after_cursor(query(InstanceSort.CREATED), PAIRS) == [(("(created, id) > (?, ?)",), (7, "i7"))]
    assert after_cursor(query(InstanceSort.CREATED, descending=True), SINGLE) == [
        (("(created < ? or (created = ? and id < ?))",), (7, 7, "i7"))
    ]
    assert after_cursor(query(InstanceSort.ID, None), PAIRS) == [(("id > ?",), ("i7",))]
    assert after_cursor(query(InstanceSort.FINISHED), PAIRS)[0].parts[0] == "finished is not null"


def test_names_are_two_ranges() -> None:
    first = [part.parts[0] for part in after_cursor(InstanceQuery(sort=InstanceSort.NAME), PAIRS)]
    among_unnamed = [part.parts for part in after_cursor(query(InstanceSort.NAME, None), PAIRS)]
    last = [part.parts for part in after_cursor(query(InstanceSort.NAME, None, descending=True), PAIRS)]

    assert first == ["name is null", "name is not null"]
    assert among_unnamed == [("name is null", "id > ?"), ("name is not null",)]
    assert last == [("name is null", "id < ?")]


def test_the_order_puts_missing_names_first() -> None:
    by_name = InstanceQuery(sort=InstanceSort.NAME, descending=False)

    assert order_of(by_name, PAIRS) == "name, id"
    assert order_of(by_name, SINGLE) == "name nulls first, id"
    assert order_of(InstanceQuery(sort=InstanceSort.ID), PAIRS) == "id desc"


def test_a_search_is_a_range_of_each_spelling() -> None:
    assert begins_with("name", "Ab") == (("name >= ? and name < ?",), ("Ab", "Ab\U0010ffff"))
    found = matches_text("ab", PAIRS)
    assert found.values[0] == "ab"
    assert len(found.values) == 1 + 2 * 3 * 3  # ab, AB and Ab, in three columns
