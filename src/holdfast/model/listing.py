"""Lists of instances: filter, order, page, result, and the cursor between two pages.

A cursor is a position in the order of one list (sort value and id), for paging through existing rows. It cannot follow new
rows: ids and times are assigned before the commit, so a tail by them would miss the slower writer (rule M8).
"""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

import msgspec
from msgspec import Struct

from holdfast.errors import InvalidCursor
from holdfast.model.storable_text import is_storable
from holdfast.model.stored import DEFAULT_TENANT


class InstanceSort(StrEnum):
    """The column that a list of instances is sorted by. Every store has an index for each of them."""

    CREATED = "created"
    UPDATED = "updated"
    FINISHED = "finished"
    """Only instances that have ended are listed."""
    NAME = "name"
    """Instances without a name come before all names."""
    ID = "id"
    """The order of bulk actions, which page through every match."""


class InstanceFilter(Struct, frozen=True, kw_only=True):
    """All given conditions must hold; empty tuples and None do not filter."""

    ids: tuple[str, ...] = ()
    statuses: tuple[str, ...] = ()
    definition_ids: tuple[str, ...] = ()
    definition_version: int | None = None
    contents: tuple[str, ...] = ()
    correlation_ids: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    parent_id: str | None = None
    has_incidents: bool | None = None
    system: bool | None = None
    search: str = ""
    """The beginning of an id, a correlation id or a name (see `spellings`), or a part of a definition id, ignoring the case of
    ASCII letters."""
    created_from: datetime | None = None
    created_before: datetime | None = None
    updated_from: datetime | None = None
    updated_before: datetime | None = None
    finished_from: datetime | None = None
    finished_before: datetime | None = None


class InstanceQuery(Struct, frozen=True, kw_only=True):
    """A filter, an order and a page of a list of instances."""

    tenant: str = DEFAULT_TENANT
    filter: InstanceFilter = InstanceFilter()
    sort: InstanceSort = InstanceSort.CREATED
    descending: bool = True
    limit: int = 100
    cursor: str | None = None
    """From the previous page. With a cursor, `offset` counts from there."""
    offset: int = 0
    position: tuple[str, int] | None = None
    """(instance id, version) that the list must include. The query waits up to `patience`, then marks the page as stale."""
    patience: timedelta = timedelta(seconds=1)


class InstanceSummary(Struct, frozen=True, kw_only=True):
    """An instance without its state."""

    tenant: str
    id: str
    version: int
    status: str
    content: str
    definition_id: str
    definition_version: int
    correlation_id: str | None
    name: str | None
    parent_id: str | None
    system: bool
    incidents: int
    created: datetime
    updated: datetime
    finished: datetime | None


class InstancePage(Struct, frozen=True, kw_only=True):
    """One page of a list of instances."""

    items: tuple[InstanceSummary, ...]
    cursor: str | None
    """None on the last page."""
    stale: bool = False
    capped: bool = False
    """The text of the search is the beginning of more than `SEARCH_MAX` ids, correlation ids or names: only so many were
    compared. Pages sorted by id are never capped."""


class HourCount(Struct, frozen=True, kw_only=True):
    """How many instances started, or ended with a status, within an hour."""

    hour: datetime
    event: str
    """`started` or the status."""
    count: int


SEARCH_MAX = 1_000
HOURS_KEPT = timedelta(days=100)
"""Age after which stores may delete counts by hour."""


def folded(text: str) -> str:
    """Normalized text for searches, equal in every database: ASCII letters in lower case, other characters unchanged."""
    return text.translate(_FOLD)


def spellings(text: str) -> tuple[str, ...]:
    """Beginnings that a search looks for: as written, in lower case, in upper case and with a capital first letter."""
    lower, upper = folded(text), text.translate(_UNFOLD)
    return tuple(dict.fromkeys((text, lower, upper, upper[:1] + lower[1:])))


_FOLD = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}

_UNFOLD = {code: code - 32 for code in range(ord("a"), ord("z") + 1)}

SortValue = str | int | None
TIMES = frozenset({InstanceSort.CREATED, InstanceSort.UPDATED, InstanceSort.FINISHED})
"""Orders whose values are numbers."""


def encode_cursor(sort: InstanceSort, value: SortValue, instance_id: str) -> str:
    return urlsafe_b64encode(msgspec.msgpack.encode((sort.value, value, instance_id))).rstrip(b"=").decode()


def decode_cursor(cursor: str, sort: InstanceSort) -> tuple[SortValue, str]:
    """Sort value and id of the last row of the previous page. Refuses a cursor of another list."""
    try:
        raw = urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
        made_for, value, instance_id = msgspec.msgpack.decode(raw, type=tuple[str, Any, str])
    except (ValueError, msgspec.DecodeError) as error:
        raise InvalidCursor(cursor) from error
    if made_for != sort.value or not _is_sort_value(sort, value) or not is_storable(instance_id):
        raise InvalidCursor(cursor)
    return value, instance_id


def _is_sort_value(sort: InstanceSort, value: Any) -> bool:
    """Whether a column of this order can be compared with the value: callers may write cursors of their own."""
    if value is None:
        return True
    if sort in TIMES:
        return type(value) is int and -(2**63) <= value < 2**63
    return isinstance(value, str) and is_storable(value)
