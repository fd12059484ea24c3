"""Statistics of instances from hf_tally. Triggers of the database keep it, or the store itself (MySQL)."""

# ruff: noqa: S608 - names and conditions in these texts are ours, every value is a parameter

from __future__ import annotations

from holdfast.model.instance import Status
from holdfast.persistence.sql.script import Script, execute, marks
from holdfast.persistence.sql.upkeep import SqlUpkeep

_LIVE = tuple(status.value for status in Status if not status.at_rest)


class TalliedUpkeep(SqlUpkeep):
    def _statuses(self, tenant: str | None) -> Script[dict[str, int]]:
        whose, values = ("", ()) if tenant is None else (" and tenant = ?", (tenant,))
        rows = yield execute(
            f"""select status, sum(value) from {self._dialect.tallies} where hour = -1{whose}
            group by status having sum(value) > 0""",
            *values,
        )
        return {row[0]: int(row[1]) for row in rows}

    def _live_contents(self) -> Script[dict[tuple[str, str], int]]:
        rows = yield execute(
            f"""select tenant, content, sum(value) from {self._dialect.tallies}
            where hour = -1 and status in ({marks(len(_LIVE))})
            group by tenant, content having sum(value) > 0""",
            *_LIVE,
        )
        return {(row[0], row[1]): int(row[2]) for row in rows}
