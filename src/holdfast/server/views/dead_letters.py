"""Dead letters with a readable message and payload."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from holdfast.errors import HoldfastError, InvalidCursor
from holdfast.management.payloads import read_payload
from holdfast.model.values import shown
from holdfast.model.work import DeadLetterRow
from holdfast.server.backend import Backend
from holdfast.server.pagination import read_cursor, write_cursor
from holdfast.server.schemas.base import Page
from holdfast.server.schemas.operations import DeadLetterItem

SORT = "-died"
Place = tuple[float, str]
"""Position of a letter in the list: time of death and id."""


BACKTRACK_ROWS = 100


async def page(server: Backend, limit: int, cursor: str | None, *, count: bool) -> Page[DeadLetterItem]:
    """The letters after the cursor. The store's offsets count from the latest letter and shift as letters come and go, so the
    cursor names the last letter seen and its offset."""
    last, offset = (None, 0) if cursor is None else _read_cursor(cursor)
    if last is not None:
        offset = await _not_past(server, last, offset)
    found: list[tuple[int, DeadLetterRow]] = []
    while len(found) <= limit:
        rows = await server.store.list_dead_letters(server.tenant, limit=limit + 1, offset=offset)
        found += [(offset + at, row) for at, row in enumerate(rows) if last is None or _place(row) < last]
        offset += len(rows)
        if len(rows) <= limit:
            break
    following = None
    if len(found) > limit:
        at, row = found[limit - 1]
        following = write_cursor(SORT, (at + 1, *_place(row)))
    total = (await server.store.stats(server.tenant)).dead_letters if count else None
    return Page(items=[item(row) for _, row in found[:limit]], total=total, next=following)


async def _not_past(server: Backend, last: Place, offset: int) -> int:
    """An offset at or before the last letter seen: deleted letters may have moved it up."""
    while offset > 0:
        above = await server.store.list_dead_letters(server.tenant, limit=1, offset=offset - 1)
        if above and _place(above[0]) >= last:
            return offset
        offset = max(0, offset - BACKTRACK_ROWS)
    return 0


def _place(row: DeadLetterRow) -> Place:
    return row.died.timestamp(), row.work.id


def _read_cursor(cursor: str) -> tuple[Place, int]:
    offset, died, name = read_cursor(cursor, SORT)
    if not isinstance(died, float) or not 0 <= offset < 2**31:
        raise InvalidCursor(cursor)
    return (died, name), offset


async def missing(server: Backend, ids: Sequence[str]) -> list[str]:
    """The given ids that do not exist."""
    found = {row.work.id for row in await server.runtime.operators.letters(ids)}
    return [name for name in dict.fromkeys(ids) if name not in found]


def item(row: DeadLetterRow) -> DeadLetterItem:
    work = row.work
    return DeadLetterItem(
        id=work.id,
        kind=work.kind,
        queue=work.queue,
        instance_id=work.instance_id,
        reason=row.reason,
        died=row.died,
        created=work.created,
        attempts=work.attempts,
        error=_read(row.error),
        payload=_read(work.payload),
    )


def _read(data: bytes) -> Any:
    try:
        return shown(read_payload(data))
    except (HoldfastError, msgspec.DecodeError, ValueError):
        return data.decode("utf-8", "replace")[:2000] if data else None
