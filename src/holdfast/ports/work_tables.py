"""Port of stores whose work table is reachable by SQL, so that work commits together with the rows of an application."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

from holdfast.model.work import WorkRow


@runtime_checkable
class WorkTables(Protocol):
    def work_statements(self, row: WorkRow) -> Sequence[tuple[str, Mapping[str, Any]]]:
        """SQL that inserts the row, with named parameters (`:name`), to run in the caller's transaction."""

    async def find_work(self, tenant: str, work_id: str) -> WorkRow | None:
        """The row, if it is committed and not yet consumed."""
