"""Work rows that this node executes now. Callers may wait until a row is done."""

from __future__ import annotations

import asyncio

from holdfast.model.work import WorkRow

RowKey = tuple[str, str]
"""Tenant and id of a work row."""


def row_key(row: WorkRow) -> RowKey:
    return row.tenant, row.id


class RowsInHand(set[RowKey]):
    def __init__(self) -> None:
        super().__init__()
        self._waiting: dict[object, asyncio.Future[None]] = {}

    def discard(self, key: object, /) -> None:
        super().discard(key)
        waiting = self._waiting.pop(key, None)
        if waiting is not None and not waiting.done():
            waiting.set_result(None)

    async def wait_done(self, key: RowKey) -> None:
        if key not in self:
            return
        waiting = self._waiting.get(key)
        if waiting is None:
            waiting = self._waiting[key] = asyncio.get_running_loop().create_future()
        await asyncio.shield(waiting)
