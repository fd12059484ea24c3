"""Records: small documents that a store keeps beside instances. Human tasks, users, keys, alteration plans.

A record is written in one of two ways: by itself, when its version is the next one (`put_record`), or with a commit,
over whatever version is stored (`Commit.records`): there the instance's version is the guard.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from msgspec import Struct

from holdfast.errors import InvalidCursor
from holdfast.model.stored import DEFAULT_TENANT

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class RecordRow(Struct, frozen=True, kw_only=True):
    """One document. The stored key is (tenant, kind, id); `created` stays as version 1 wrote it."""

    tenant: str = DEFAULT_TENANT
    kind: str
    id: str
    version: int = 1
    instance_id: str | None = None
    """Whose record it is: it goes when that instance is deleted."""
    owner: str = ""
    """Whom it concerns: lists are asked by it."""
    state: str = ""
    due: datetime | None = None
    created: datetime
    updated: datetime
    payload: bytes = b""

    @property
    def cursor(self) -> str:
        """Where a list goes on behind this row."""
        return f"{(self.created - _EPOCH) // timedelta(microseconds=1)}:{self.id}"


class RecordQuery(Struct, frozen=True, kw_only=True):
    """Which records: of one kind, latest first, then by id. Empty lists ask for any."""

    tenant: str = DEFAULT_TENANT
    kind: str
    owners: tuple[str, ...] = ()
    states: tuple[str, ...] = ()
    instance_id: str | None = None
    due_before: datetime | None = None
    limit: int = 100
    after: str = ""
    """The `cursor` of the last row of the page before."""


def read_cursor(cursor: str) -> tuple[datetime, str]:
    micros, _, name = cursor.partition(":")
    try:
        return _EPOCH + timedelta(microseconds=int(micros)), name
    except (ValueError, OverflowError) as error:
        raise InvalidCursor(cursor) from error
