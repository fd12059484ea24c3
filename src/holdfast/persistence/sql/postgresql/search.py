"""Lists of instances from the projection, whose primary key is (tenant, created, id)."""

# ruff: noqa: S608 - names and conditions in these texts are ours, every value is a parameter

from __future__ import annotations

from holdfast.model.listing import InstanceFilter
from holdfast.persistence.sql.script import Script, Value, execute, marks
from holdfast.persistence.sql.search import SqlSearch

_LISTED_VERSION = """select l.version from hf_instance i
    join hf_listing l on l.tenant = i.tenant and l.created = i.created and l.id = i.id
    where i.tenant = ? and i.id = ?"""


class PostgresSearch(SqlSearch):
    def _has_position(self, tenant: str, instance_id: str, version: int) -> Script[bool]:
        rows = yield execute(_LISTED_VERSION, tenant, instance_id)
        return bool(rows) and rows[0][0] >= version

    def _where(self, tenant: str, filter: InstanceFilter) -> tuple[str, list[Value]]:
        where, values = super()._where(tenant, filter)
        if filter.ids:
            where += f" and created in (select created from hf_instance where tenant = ? and id in ({marks(len(filter.ids))}))"
            values += [tenant, *filter.ids]
        return where, values
