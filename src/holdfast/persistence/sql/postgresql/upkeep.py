"""Retention and import with the projected list: deleted and imported instances are queued for the projector."""

# ruff: noqa: S608 - names and conditions in these texts are ours, every value is a parameter

from __future__ import annotations

from collections.abc import Sequence

from holdfast.model.stored import ENDED
from holdfast.model.upkeep import InstanceExport, RetentionRule
from holdfast.persistence.sql.export_import import SqlExportImport
from holdfast.persistence.sql.script import Script, Value, execute, marks
from holdfast.persistence.sql.tables import micros
from holdfast.persistence.sql.tallied_upkeep import TalliedUpkeep
from holdfast.persistence.sql.upkeep import NO_LIVE_RELATIVES

_UNLIST = """insert into hf_unlisted (shard, is_new, tenants, ids, createds)
    select hf_shard(id), false, array_agg(tenant), array_agg(id), array_agg(created) from hf_instance
    where tenant = ? and id in ({marks}) group by 1"""


class PostgresUpkeep(TalliedUpkeep):
    def _expired(self, tenant: str, rule: RetentionRule, limit: int) -> Script[list[str]]:
        """Read the first instances of each group from the list, which has the index. The delete checks each instance again."""
        statuses = [status for status in rule.statuses if status in ENDED]
        if not statuses:
            return []
        of_group = f"g.tenant = ? and g.status in ({marks(len(statuses))})"
        groups: list[Value] = [tenant, *statuses]
        if rule.definition_ids:
            of_group += f" and g.definition_id in ({marks(len(rule.definition_ids))})"
            groups += rule.definition_ids
        rows = yield execute(
            f"""select x.id from hf_group g cross join lateral (
                select i.id, i.finished from hf_listing i where i.group_number = g.number and i.finished < ?{NO_LIVE_RELATIVES}
                order by i.finished, i.id limit ?
            ) x where {of_group} order by x.finished, x.id limit ?""",
            micros(rule.finished_before),
            limit,
            *groups,
            limit,
        )
        return [row[0] for row in rows]

    def _delete_rows(self, tenant: str, ids: Sequence[str], now: int) -> Script[None]:
        """The projector deletes them from the list."""
        yield execute(_UNLIST.format(marks=marks(len(ids))), tenant, *ids)
        yield from super()._delete_rows(tenant, ids, now)


class PostgresExportImport(SqlExportImport):
    def _import(self, export: InstanceExport) -> Script[None]:
        yield from super()._import(export)
        yield execute(_UNLIST.format(marks="?"), *export.instance.key)
