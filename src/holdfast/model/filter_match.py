"""Evaluation of instance filters in Python, for the memory store and for the re-check of bulk actions (rule M7)."""

from __future__ import annotations

from holdfast.model.listing import InstanceFilter, InstanceSummary, folded, spellings
from holdfast.model.stored import InstanceRow

Row = InstanceRow | InstanceSummary


def matches(row: Row, filter: InstanceFilter) -> bool:
    return _values_match(row, filter) and _text_matches(row, filter.search) and _times_match(row, filter)


def _values_match(row: Row, filter: InstanceFilter) -> bool:
    lists = (
        (filter.ids, row.id),
        (filter.statuses, row.status),
        (filter.definition_ids, row.definition_id),
        (filter.contents, row.content),
        (filter.correlation_ids, row.correlation_id),
        (filter.names, row.name),
    )
    singles = (
        (filter.definition_version, row.definition_version),
        (filter.parent_id, row.parent_id),
        (filter.has_incidents, row.incidents > 0),
        (filter.system, row.system),
    )
    return all(not wanted or value in wanted for wanted, value in lists) and all(
        wanted is None or value == wanted for wanted, value in singles
    )


def _text_matches(row: Row, search: str) -> bool:
    if not search:
        return True
    beginnings = spellings(search)
    return folded(search) in folded(row.definition_id) or any(
        (field or "").startswith(beginnings) for field in (row.id, row.correlation_id, row.name)
    )


def _times_match(row: Row, filter: InstanceFilter) -> bool:
    ranges = (
        (row.created, filter.created_from, filter.created_before),
        (row.updated, filter.updated_from, filter.updated_before),
        (row.finished, filter.finished_from, filter.finished_before),
    )
    return all(
        (start is None or (moment is not None and moment >= start))
        and (end is None or (moment is not None and moment < end))
        for moment, start, end in ranges
    )
