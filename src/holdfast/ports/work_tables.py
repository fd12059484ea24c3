"""Stores whose work table others can reach in the same database: work that is committed with their own rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

from holdfast.model.work import WorkRow


@runtime_checkable
class WorkTables(Protocol):
    def work_statements(self, row: WorkRow) -> Sequence[tuple[str, Mapping[str, Any]]]:
        """SQL that writes the row, with named parameters (`:name`), for a transaction of the caller's."""

    async def has_work(self, tenant: str, work_id: str) -> bool:
        """Whether the row is there, committed and not used up."""
