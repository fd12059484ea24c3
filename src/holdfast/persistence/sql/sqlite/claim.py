"""Claims on SQLite are optimistic (M15): rows are read, not locked; consuming them is a guard of the commit.

Lanes of one process do not get in each other's way: what one has in hand, the others leave out.
"""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.model.commit import Commit, CommitOutcome
from holdfast.model.work import WorkRow
from holdfast.ports import CommitStore


class OptimisticClaim:
    def __init__(self, store: CommitStore, rows: Sequence[WorkRow], epoch: int) -> None:
        self._store = store
        self.rows = rows
        self.epoch = epoch

    async def commit(self, batch: Sequence[Commit]) -> Sequence[CommitOutcome]:
        return await self._store.commit(batch)
