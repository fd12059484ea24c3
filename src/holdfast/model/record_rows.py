"""Records: small documents that a store keeps beside instances: human tasks, users, keys, alteration plans.

A record is written in one of two ways. `put_record` writes it alone, if its version is the next one. A commit writes it
over any stored version (`Commit.records`); the version of the instance is then the guard.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from msgspec import Struct

from holdfast.errors import InvalidCursor
from holdfast.model.storable_text import is_storable
from holdfast.model.stored import DEFAULT_TENANT

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class RecordRow(Struct, frozen=True, kw_only=True):
    """One document. The stored key is (tenant, kind, id); `created` keeps the value of version 1."""

    tenant: str = DEFAULT_TENANT
    kind: str
    id: str
    version: int = 1
    instance_id: str | None = None
    """The instance it belongs to; it is deleted with that instance."""
    owner: str = ""
    """The user or role it concerns; lists can filter by it."""
    state: str = ""
    due: datetime | None = None
    created: datetime
    updated: datetime
    payload: bytes = b""

    @property
    def cursor(self) -> str:
        """Position after this row, for the next page of a list."""
        return f"{(self.created - _EPOCH) // timedelta(microseconds=1)}:{self.id}"


class RecordQuery(Struct, frozen=True, kw_only=True):
    """Query for records of one kind, newest first, then by id. Empty tuples do not filter."""

    tenant: str = DEFAULT_TENANT
    kind: str
    owners: tuple[str, ...] = ()
    states: tuple[str, ...] = ()
    instance_id: str | None = None
    due_before: datetime | None = None
    limit: int = 100
    after: str = ""
    """`cursor` of the last row of the previous page."""


def read_cursor(cursor: str) -> tuple[datetime, str]:
    micros, _, name = cursor.partition(":")
    try:
        if not -(2**62) < int(micros) < 2**62 or not is_storable(name):
            raise InvalidCursor(cursor)
        return _EPOCH + timedelta(microseconds=int(micros)), name
    except (ValueError, OverflowError) as error:
        raise InvalidCursor(cursor) from error
