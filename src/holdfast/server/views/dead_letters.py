"""Dead letters with what is inside: a message and a payload that people can read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from holdfast.errors import HoldfastError
from holdfast.model.values import TypeRegistry, shown
from holdfast.model.work import DeadLetterRow
from holdfast.runtime.durable.encoding import decode_payload
from holdfast.server.backend import Backend
from holdfast.server.schemas.base import Page
from holdfast.server.schemas.operations import DeadLetterItem


async def page(server: Backend, limit: int, offset: int) -> Page[DeadLetterItem]:
    rows = await server.store.list_dead_letters(server.tenant, limit=limit, offset=offset)
    total = (await server.store.stats(server.tenant)).dead_letters
    following = str(offset + limit) if offset + limit < total else None
    return Page(items=[item(row) for row in rows], total=total, next=following)


async def missing(server: Backend, ids: Sequence[str]) -> list[str]:
    """Those of these ids that are none (any more)."""
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
        return shown(decode_payload(data, TypeRegistry()))
    except (HoldfastError, msgspec.DecodeError, ValueError):
        return data.decode("utf-8", "replace")[:2000] if data else None
