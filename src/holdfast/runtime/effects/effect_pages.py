"""Pages of effect rows that may stay as they are (held effects, long waits): each read continues behind the last one.

After the end it starts from the beginning again, so that no row hides the others for good.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from holdfast.model.work import EffectRow

_BEGINNING = ("", 0)


class EffectPages:
    def __init__(self, size: int) -> None:
        self._size = size
        self._after = _BEGINNING

    async def next(self, page: Callable[[tuple[str, int]], Awaitable[Sequence[EffectRow]]]) -> list[EffectRow]:
        rows = list(await page(self._after))
        if len(rows) < self._size and self._after != _BEGINNING:
            known = {(row.instance_id, row.execution) for row in rows}
            rows += [row for row in await page(_BEGINNING) if (row.instance_id, row.execution) not in known]
            rows = rows[: self._size]
        self._after = (rows[-1].instance_id, rows[-1].execution) if len(rows) == self._size else _BEGINNING
        return rows
