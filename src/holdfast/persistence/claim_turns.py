"""Turns of tenants in a claim: the work of a tenant never waits behind the backlog of another (rule M10)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from holdfast.model.work import WorkRow


def take_turns(rows: Sequence[WorkRow], limit: int) -> list[WorkRow]:
    """The first rows, of each tenant in the given order."""
    if len(rows) <= limit or len({row.tenant for row in rows}) == 1:
        return list(rows[:limit])
    turns: Counter[str] = Counter()
    ranked: list[tuple[int, WorkRow]] = []
    for row in rows:
        turns[row.tenant] += 1
        ranked.append((turns[row.tenant], row))
    ranked.sort(key=lambda item: item[0])
    return [row for _, row in ranked[:limit]]
