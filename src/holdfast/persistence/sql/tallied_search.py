"""Counts of instances from hf_tally. Triggers of the database keep it, or the store itself (MySQL)."""

# ruff: noqa: S608 - names and conditions in these texts are ours, every value is a parameter

from __future__ import annotations

from holdfast.model.listing import InstanceFilter
from holdfast.persistence.sql.list_query import condition, own_conditions, shared_conditions
from holdfast.persistence.sql.script import Script, execute
from holdfast.persistence.sql.search import HOUR, SqlSearch

_NOW = -1
"""The hour of the rows that count the present instances."""


class TalliedSearch(SqlSearch):
    def _counts(self, tenant: str, filter: InstanceFilter) -> Script[dict[str, int]]:
        """Sums of few rows, unless the filter has a condition on the instances themselves."""
        if filter.search or own_conditions(filter).parts:
            return (yield from super()._counts(tenant, filter))
        where = condition("tenant = ? and hour = ?", tenant, _NOW) & shared_conditions(filter)
        rows = yield execute(
            f"select status, sum(value) from {self._dialect.tallies} where {where.text} group by status having sum(value) > 0",
            *where.values,
        )
        return {row[0]: int(row[1]) for row in rows}

    def _hours(self, tenant: str, since: int) -> Script[list[tuple[int, str, int]]]:
        rows = yield execute(
            f"""select hour, status, sum(value) from {self._dialect.tallies} where tenant = ? and hour >= ? and is_system = 0
            group by hour, status order by hour, status""",
            tenant,
            since // HOUR,
        )
        return [(row[0], row[1], int(row[2])) for row in rows]
