"""Lists of instances: what may be asked, what comes back, and the cursor between two pages.

A cursor is a place in the order of one list (sort value and id), for paging through what is there. It is no way to
follow what happens: ids and times are given before the commit, so a tail by them misses the slower writer (rule M8).
"""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

import msgspec
from msgspec import Struct

from holdfast.errors import InvalidCursor
from holdfast.model.stored import DEFAULT_TENANT


class InstanceSort(StrEnum):
    """The column that a list of instances is sorted by."""

    CREATED = "created"
    UPDATED = "updated"
    FINISHED = "finished"
    """Instances that have not finished come last, in either direction."""
    NAME = "name"
    ID = "id"
    STATUS = "status"
    DEFINITION = "definition_id"
    CORRELATION = "correlation_id"
    INCIDENTS = "incidents"
    VERSION = "version"
    DEFINITION_VERSION = "definition_version"
    PARENT = "parent_id"


class InstanceFilter(Struct, frozen=True, kw_only=True):
    """All that is given must hold; empty tuples and None ask for nothing."""

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
    """Part of id, definition id, correlation id or name, whatever the case of ASCII letters."""
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
    """From the page before. With a cursor, `offset` counts from there."""
    offset: int = 0
    position: tuple[str, int] | None = None
    """(instance id, version) that the list must have seen; it waits up to `patience`, then says that it is stale."""
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
    """None: this was the last page."""
    stale: bool = False


def folded(text: str) -> str:
    """Text as searches compare it: ASCII letters in lower case, all else as it is, in every database."""
    return text.translate(_FOLD)


_FOLD = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}

SortValue = str | int | None


def encode_cursor(sort: InstanceSort, value: SortValue, instance_id: str) -> str:
    return urlsafe_b64encode(msgspec.msgpack.encode((sort.value, value, instance_id))).rstrip(b"=").decode()


def decode_cursor(cursor: str, sort: InstanceSort) -> tuple[SortValue, str]:
    """Sort value and id of the last row seen; refuses what another list made."""
    try:
        raw = urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
        made_for, value, instance_id = msgspec.msgpack.decode(raw, type=tuple[str, Any, str])
    except (ValueError, msgspec.DecodeError) as error:
        raise InvalidCursor(cursor) from error
    if made_for != sort.value or not (value is None or isinstance(value, str | int)):
        raise InvalidCursor(cursor)
    return value, instance_id
