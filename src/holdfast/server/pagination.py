"""Sorting and paging in memory, for lists that are small and that the store does not page.

A cursor names the last row of a page by sort value and id, so that inserted or deleted rows shift no other row.
"""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Annotated, Any, NamedTuple, TypeVar

import msgspec
from fastapi import Query

from holdfast.errors import InvalidCursor
from holdfast.server.problems import Refusal

T = TypeVar("T")

LIMIT_MAX = 1000

Limit = Annotated[int, Query(ge=1, le=LIMIT_MAX, description="Maximum rows per page.")]
Cursor = Annotated[str | None, Query(description="`next` of the previous page.")]
Total = Annotated[bool, Query(description="Also count all rows that match, which may take long.")]
Sort = Annotated[str, Query(description="Column to sort by; a leading `-` sorts in descending order.")]


class Order(NamedTuple):
    column: str
    descending: bool


def read_sort(text: str, allowed: Sequence[str]) -> Order:
    column = text.removeprefix("-")
    if column not in allowed:
        raise Refusal(
            422, "sort.unknown", f"The list cannot be sorted by '{column}'. Sort by one of: {', '.join(allowed)}."
        )
    return Order(column, text.startswith("-"))


def paged(
    items: Sequence[T],
    *,
    sort: str,
    columns: Sequence[str],
    limit: int,
    cursor: str | None,
    key: Callable[[T], str],
) -> tuple[list[T], str | None]:
    """The page after the cursor, and the cursor of the next page."""
    order = read_sort(sort, columns)

    def place(item: T) -> tuple[Any, ...]:
        return (*comparable(getattr(item, order.column)), key(item))

    ordered = sorted(items, key=place, reverse=order.descending)
    if cursor is not None:
        last = read_cursor(cursor, sort)
        try:
            ordered = [item for item in ordered if (place(item) < last if order.descending else place(item) > last)]
        except TypeError as error:
            raise InvalidCursor(cursor) from error
    page = ordered[:limit]
    return page, write_cursor(sort, place(page[-1])) if len(ordered) > limit else None


def comparable(value: Any) -> tuple[int, Any]:
    """None first, then values of one kind; values without an order compare as text."""
    if value is None:
        return (0, "")
    if isinstance(value, bool | int | float):
        return (1, float(value))
    if isinstance(value, datetime):
        return (1, value.timestamp())
    return (1, str(value).casefold())


def write_cursor(sort: str, place: tuple[Any, ...]) -> str:
    return urlsafe_b64encode(msgspec.msgpack.encode((sort, place))).rstrip(b"=").decode()


def read_cursor(cursor: str, sort: str) -> tuple[Any, ...]:
    try:
        raw = urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
        made_for, place = msgspec.msgpack.decode(raw, type=tuple[str, tuple[int, str | float, str]])
    except (ValueError, msgspec.DecodeError) as error:
        raise InvalidCursor(cursor) from error
    if made_for != sort:
        raise InvalidCursor(cursor)
    return place
