"""Changes of the numbers of instances, written by the transaction that changes the instances.

A commit inserts the changes as rows of hf_tally_delta. Inserted rows lock no counter, so commits do not wait for each other, and
no trigger is needed, which many servers allow only to administrators. The folder (`tally_fold.py`) adds them to hf_tally later;
reads add up both tables.
"""

# ruff: noqa: S608 - names and conditions in these texts are ours, every value is a parameter

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from holdfast.model.commit import Commit
from holdfast.model.stored import InstanceRow
from holdfast.persistence.sql.script import Script, Value, all_of, execute, execute_many, grouped, marks
from holdfast.persistence.sql.search import HOUR
from holdfast.persistence.sql.tables import micros, micros_or_none

KEY = "tenant, hour, definition_id, definition_version, content, status, is_system"
TALLIES = f"(select {KEY}, value from hf_tally union all select {KEY}, value from hf_tally_delta) tallies"
"""Both tables, for reads."""
_NOW = -1
"""The hour of the rows that count the present instances."""
_INSERT = f"insert into hf_tally_delta ({KEY}, value) values ({marks(8)})"
_BEFORE = """select id, definition_version, content, status, finished from hf_instance force index (primary)
    where tenant = ? and id in ({marks})"""
_DELETED = f"""insert into hf_tally_delta ({KEY}, value)
    select tenant, {_NOW}, definition_id, definition_version, content, status, is_system, -count(*) from hf_instance
    where tenant = ? and id in ({{marks}}) group by definition_id, definition_version, content, status, is_system"""

Key = tuple[Value, ...]


def count_commits(commits: Sequence[Commit]) -> Script[None]:
    """Write the changes of these commits, whose instances are locked and not written yet."""
    written = [commit.instance for commit in commits if commit.instance is not None]
    changes: Counter[Key] = Counter()
    for row in written:
        if row.version == 1:
            _count_new(changes, row)
    for tenant, rows in grouped([row for row in written if row.version > 1], lambda row: row.tenant).items():
        found = yield from all_of(_BEFORE, (tenant,), sorted(row.id for row in rows))
        before = {name: tuple(rest) for name, *rest in found}
        for row in rows:
            _count_changed(changes, row, *before[row.id])
    yield from _insert(changes)


def count_imported(row: InstanceRow) -> Script[None]:
    changes: Counter[Key] = Counter()
    _count_new(changes, row)
    yield from _insert(changes)


def count_deleted(tenant: str, ids: Sequence[str]) -> Script[None]:
    """Write the changes of instances that are deleted next. Hours keep their counts."""
    yield execute(_DELETED.format(marks=marks(len(ids))), tenant, *ids)


def _insert(changes: Counter[Key]) -> Script[None]:
    rows = [(*key, value) for key, value in changes.items() if value]
    if rows:
        yield execute_many(_INSERT, rows)


def _count_new(changes: Counter[Key], row: InstanceRow) -> None:
    changes[_present(row, row.definition_version, row.content, row.status)] += 1
    changes[_event(row, micros(row.created), "started")] += 1
    if row.finished is not None:
        changes[_event(row, micros(row.finished), row.status)] += 1


def _count_changed(
    changes: Counter[Key], row: InstanceRow, version: int, content: str, status: str, finished: int | None
) -> None:
    changes[_present(row, version, content, status)] -= 1
    changes[_present(row, row.definition_version, row.content, row.status)] += 1
    ended = micros_or_none(row.finished)
    if ended is not None and finished is None:
        changes[_event(row, ended, row.status)] += 1


def _present(row: InstanceRow, version: int, content: str, status: str) -> Key:
    return row.tenant, _NOW, row.definition_id, version, content, status, int(row.system)


def _event(row: InstanceRow, at: int, event: str) -> Key:
    return row.tenant, at // HOUR, "", 0, "", event, int(row.system)
