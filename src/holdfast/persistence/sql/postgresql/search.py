"""Lists of instances from the projection, whose primary key is (tenant, created, id).

Definition, content and status are columns of hf_group. A list that filters by them reads the first rows of each group from an
index of hf_listing and merges them, so it depends on the number of groups and not on the number of instances.
"""

# ruff: noqa: S608 - names and conditions in these texts are ours, every value is a parameter

from __future__ import annotations

from msgspec.structs import replace

from holdfast.model.listing import InstanceFilter, InstanceQuery, InstanceSort
from holdfast.model.stored import ENDED
from holdfast.persistence.sql.instance_tables import SUMMARY
from holdfast.persistence.sql.list_query import (
    Conditions,
    after_cursor,
    condition,
    is_selective,
    order_of,
    own_conditions,
    shared_conditions,
)
from holdfast.persistence.sql.script import Script, Value, execute, marks
from holdfast.persistence.sql.search import Select
from holdfast.persistence.sql.tallied_search import TalliedSearch

_LISTED_VERSION = """select l.version from hf_instance i
    join hf_listing l on l.tenant = i.tenant and l.created = i.created and l.id = i.id
    where i.tenant = ? and i.id = ?"""
_OWN = "id, version, correlation_id, name, parent_id, incidents, created, updated, finished"
_BY_ID = """(select l.* from hf_instance i
    join hf_listed l on l.tenant = i.tenant and l.created = i.created and l.id = i.id
    where i.tenant = ?{beyond} order by i.id{direction}) l"""
"""The list in the order of ids, for which only hf_instance has an index."""


class PostgresSearch(TalliedSearch):
    def _has_position(self, tenant: str, instance_id: str, version: int) -> Script[bool]:
        rows = yield execute(_LISTED_VERSION, tenant, instance_id)
        return bool(rows) and rows[0][0] >= version

    def _branches(self, query: InstanceQuery) -> list[Select]:
        filter = query.filter
        shared, own = shared_conditions(filter), own_conditions(filter) & self._text(query)
        ranges = after_cursor(query, self._dialect)
        if filter.ids:
            own &= _created_of(query.tenant, filter)
        if is_selective(filter) or (not shared.parts and query.sort in {InstanceSort.CREATED, InstanceSort.UPDATED}):
            where = condition("tenant = ?", query.tenant) & shared & own
            return [self._select(where & beyond) for beyond in ranges]
        if query.sort is InstanceSort.ID:
            return [_by_id(query, shared & own, ranges[0])]
        if query.sort is InstanceSort.NAME:
            where = condition("tenant = ?", query.tenant) & shared & own
            return [
                _by_id(query, where, beyond)
                if "name is null" in beyond.parts
                else self._select(where & beyond)._replace(
                    order="name desc, id desc" if query.descending else "name, id"
                )
                for beyond in ranges
            ]
        return [self._of_groups(query, own & beyond) for beyond in ranges]

    def _of_groups(self, query: InstanceQuery, own: Conditions) -> Select:
        """The first rows of each group."""
        filter = query.filter
        if query.sort is InstanceSort.FINISHED:
            ended = tuple(status for status in filter.statuses or sorted(ENDED) if status in ENDED)
            filter = replace(filter, statuses=ended or ("none",))
        of_group = condition("g.tenant = ?", query.tenant) & shared_conditions(filter)
        inner = f"select {_OWN} from hf_listing where group_number = g.number and {own.text}"
        limit = query.offset + query.limit + 1
        return Select(
            f"""select {SUMMARY} from hf_group g cross join lateral (
                {inner} order by {order_of(query, self._dialect)} limit ?) l where {of_group.text}""",
            (*own.values, limit, *of_group.values),
        )


def _by_id(query: InstanceQuery, where: Conditions, beyond: Conditions) -> Select:
    """`beyond` may have a condition on the id, which selects the range of the index."""
    direction = " desc" if query.descending else ""
    ids = [part for part in beyond.parts if part.startswith("id ")]
    rest = tuple(part for part in beyond.parts if not part.startswith("id "))
    source = _BY_ID.format(beyond=f" and i.{ids[0]}" if ids else "", direction=direction)
    chosen = Conditions(where.parts + rest, where.values)
    return Select(
        f"select {SUMMARY} from {source} where {chosen.text}",
        (query.tenant, *beyond.values, *chosen.values),
        f"id{direction}",
    )


def _created_of(tenant: str, filter: InstanceFilter) -> Conditions:
    """The times of the ids, because the primary key begins with them."""
    values: tuple[Value, ...] = (tenant, *filter.ids)
    return Conditions(
        (
            f"created in (select i.created from hf_instance i where i.tenant = ? and i.id in ({marks(len(filter.ids))}))",
        ),
        values,
    )
