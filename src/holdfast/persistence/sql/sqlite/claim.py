"""Optimistic claims of SQLite (M15): rows are read, not locked; consuming them is a guard of the commit.

Claims of one process do not conflict: each leaves out the rows that the others hold.
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
