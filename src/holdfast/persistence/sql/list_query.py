"""Conditions and cursors of a list of instances, as SQL.

A list is a merge of branches. Each branch is a range of one index in the order of the list, so it reads only the rows that it
returns and the rows that its other conditions reject. The merge sorts at most one page of each branch.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from holdfast.model.listing import (
    InstanceFilter,
    InstanceQuery,
    InstanceSort,
    InstanceSummary,
    SortValue,
    decode_cursor,
    folded,
    spellings,
)
from holdfast.persistence.sql.dialect import Dialect
from holdfast.persistence.sql.script import Value, marks
from holdfast.persistence.sql.tables import micros

_TIMES = frozenset({InstanceSort.CREATED, InstanceSort.UPDATED, InstanceSort.FINISHED})
_LAST = "\U0010ffff"
"""The last character: the texts that begin with x are between x and x followed by it."""
SEARCHED = ("id", "correlation_id", "name")
"""Columns whose beginning is searched."""


class Conditions(NamedTuple):
    """Conditions that must all hold, and their parameters."""

    parts: tuple[str, ...] = ()
    values: tuple[Value, ...] = ()

    @property
    def text(self) -> str:
        return " and ".join(self.parts) if self.parts else "1 = 1"

    def __and__(self, other: Conditions) -> Conditions:
        return Conditions(self.parts + other.parts, self.values + other.values)


def condition(text: str, *values: Value) -> Conditions:
    return Conditions((text,), values)


def one_of(column: str, wanted: Sequence[Value]) -> Conditions:
    return condition(f"{column} in ({marks(len(wanted))})", *wanted)


def is_selective(filter: InstanceFilter) -> bool:
    """Whether the filter names few instances by an index of their own. They are sorted after they were found."""
    return bool(
        filter.ids or filter.correlation_ids or filter.names or filter.parent_id is not None or filter.has_incidents
    )


def shared_conditions(filter: InstanceFilter) -> Conditions:
    """Conditions on values that many instances share: definition, content, status."""
    found = Conditions()
    for column, wanted in (
        ("status", filter.statuses),
        ("definition_id", filter.definition_ids),
        ("content", filter.contents),
    ):
        if wanted:
            found &= one_of(column, wanted)
    if filter.definition_version is not None:
        found &= condition("definition_version = ?", filter.definition_version)
    if filter.system is not None:
        found &= condition("is_system = ?", int(filter.system))
    return found


def own_conditions(filter: InstanceFilter) -> Conditions:
    """Conditions on values of the instance itself."""
    found = Conditions()
    for column, wanted in (("id", filter.ids), ("correlation_id", filter.correlation_ids), ("name", filter.names)):
        if wanted:
            found &= one_of(column, wanted)
    if filter.parent_id is not None:
        found &= condition("parent_id = ?", filter.parent_id)
    if filter.has_incidents is not None:
        found &= condition("incidents > 0" if filter.has_incidents else "incidents = 0")
    for part in _times(filter):
        found &= part
    return found


def _times(filter: InstanceFilter) -> Iterator[Conditions]:
    for text, limit in (
        ("created >= ?", filter.created_from),
        ("created < ?", filter.created_before),
        ("updated >= ?", filter.updated_from),
        ("updated < ?", filter.updated_before),
        ("finished >= ?", filter.finished_from),
        ("finished < ?", filter.finished_before),
    ):
        if limit is not None:
            yield condition(text, micros(limit))


def begins_with(column: str, text: str) -> Conditions:
    """One range of an index on the column."""
    return condition(f"{column} >= ? and {column} < ?", text, text + _LAST)


def matches_text(search: str, dialect: Dialect) -> Conditions:
    """The whole condition of a search, for lists that compare every instance."""
    values: list[Value] = [folded(search)]
    either = [dialect.contains.format(column="definition_id")]
    for column in SEARCHED:
        for spelling in spellings(search):
            part = begins_with(column, spelling)
            either.append(f"({part.text})")
            values += part.values
    return condition(f"({' or '.join(either)})", *values)


def after_cursor(query: InstanceQuery, dialect: Dialect) -> list[Conditions]:
    """Ranges of the list behind the cursor. A list by name has two ranges: instances without a name, and with a name."""
    column, than = query.sort.value, "<" if query.descending else ">"
    if query.sort is InstanceSort.NAME:
        return _names_after(query, dialect)
    found = condition("finished is not null") if query.sort is InstanceSort.FINISHED else Conditions()
    if query.cursor is None:
        return [found]
    value, instance_id = decode_cursor(query.cursor, query.sort)
    if query.sort is InstanceSort.ID:
        return [condition(f"id {than} ?", instance_id)]
    return [found & _beyond(column, than, value, instance_id, dialect)]


def _names_after(query: InstanceQuery, dialect: Dialect) -> list[Conditions]:
    unnamed, named = condition("name is null"), condition("name is not null")
    if query.cursor is None:
        return [unnamed, named]
    value, instance_id = decode_cursor(query.cursor, query.sort)
    than = "<" if query.descending else ">"
    if value is None:
        rest = unnamed & condition(f"id {than} ?", instance_id)
        return [rest] if query.descending else [rest, named]
    rest = named & _beyond("name", than, value, instance_id, dialect)
    return [rest, unnamed] if query.descending else [rest]


def _beyond(column: str, than: str, value: SortValue, instance_id: str, dialect: Dialect) -> Conditions:
    if dialect.compares_pairs:
        return condition(f"({column}, id) {than} (?, ?)", value, instance_id)
    return condition(f"({column} {than} ? or ({column} = ? and id {than} ?))", value, value, instance_id)


def order_of(query: InstanceQuery, dialect: Dialect) -> str:
    direction = " desc" if query.descending else ""
    if query.sort is InstanceSort.ID:
        return f"id{direction}"
    nulls = ""
    if query.sort is InstanceSort.NAME and not dialect.nulls_lowest:
        nulls = " nulls last" if query.descending else " nulls first"
    return f"{query.sort.value}{direction}{nulls}, id{direction}"


def sort_value(row: InstanceSummary, query: InstanceQuery) -> SortValue:
    """The sort value of a row, for its cursor."""
    value = getattr(row, query.sort.value)
    if query.sort in _TIMES and value is not None:
        return micros(value)
    found: SortValue = value
    return found


def merge_key(row: InstanceSummary, query: InstanceQuery) -> tuple[bool, SortValue, str]:
    """The position of a row in the list."""
    value = sort_value(row, query)
    return value is not None, 0 if value is None else value, row.id
