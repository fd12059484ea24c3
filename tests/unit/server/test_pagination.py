"""Pages of lists that are sorted in memory: every row once, whatever the column, the direction and what changes meanwhile."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, strategies as st

from holdfast.errors import InvalidCursor
from holdfast.server.pagination import paged
from holdfast.server.problems import Refusal

MOMENT = datetime(2026, 1, 1, tzinfo=UTC)


class Row:
    def __init__(self, number: int, value: Any) -> None:
        self.id = f"r{number:03}"
        self.value = value


def pages(rows: list[Row], sort: str, limit: int) -> list[str]:
    seen: list[str] = []
    cursor = None
    while True:
        page, cursor = paged(
            rows, sort=sort, columns=("id", "value"), limit=limit, cursor=cursor, key=lambda row: row.id
        )
        assert len(page) <= limit
        seen += [row.id for row in page]
        if cursor is None:
            return seen


@given(
    kind=st.sampled_from([[None, "", "a", "B", "b"], [None, 3, -1, 2.5, 7], [None, MOMENT, MOMENT + timedelta(1)]]),
    picks=st.lists(st.integers(0, 100), max_size=30),
    limit=st.integers(1, 7),
    sort=st.sampled_from(["value", "-value", "id", "-id"]),
)
def test_pages_hold_every_row_once_in_one_order(kind: list[Any], picks: list[int], limit: int, sort: str) -> None:
    rows = [Row(number, kind[pick % len(kind)]) for number, pick in enumerate(picks)]

    seen = pages(rows, sort, limit)

    assert sorted(seen) == [row.id for row in rows]
    assert seen == pages(rows, sort, 1000)


def test_a_row_that_comes_or_goes_moves_no_other() -> None:
    rows = [Row(number, "same") for number in range(6)]
    first, cursor = paged(rows, sort="value", columns=("value",), limit=3, cursor=None, key=lambda row: row.id)
    changed = [row for row in rows if row.id != "r001"]

    second, _ = paged(changed, sort="value", columns=("value",), limit=3, cursor=cursor, key=lambda row: row.id)

    assert [row.id for row in (*first, *second)] == [row.id for row in rows]


@pytest.mark.parametrize("cursor", ["", "rubbish", "%%%", "gqFh"])
def test_a_cursor_that_is_not_ours_is_refused(cursor: str) -> None:
    with pytest.raises(InvalidCursor):
        paged([Row(1, 1)], sort="value", columns=("value",), limit=3, cursor=cursor, key=lambda row: row.id)


def test_a_cursor_of_another_sort_is_refused() -> None:
    rows = [Row(number, number) for number in range(5)]
    _, cursor = paged(rows, sort="value", columns=("id", "value"), limit=2, cursor=None, key=lambda row: row.id)

    with pytest.raises(InvalidCursor):
        paged(rows, sort="-value", columns=("id", "value"), limit=2, cursor=cursor, key=lambda row: row.id)


def test_an_unknown_column_is_told_with_those_there_are() -> None:
    with pytest.raises(Refusal, match="Sort by one of: id, value"):
        paged([Row(1, 1)], sort="other", columns=("id", "value"), limit=2, cursor=None, key=lambda row: row.id)
