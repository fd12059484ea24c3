"""Commit statement: one statement, one round trip and one fsync for a batch of up to 128 commits.

Each kind of row is an array of rows, unnested; each row carries the number of its commit. `ok` contains the numbers of the
commits whose guards hold, and every write is restricted to `ok`: a commit with a conflict writes nothing, the others are
committed. The statement returns `ok`.

If versions are the only guards, `ok` is the set of inserted and updated instances: under READ COMMITTED, PostgreSQL checks a
concurrently changed row again, and its version no longer matches. If every commit has an instance, `commits` is left out.

With other guards, instances are locked first (`locked`, by id), then consumed rows (`held`). A commit is `ok` if all of its
rows exist. Work rows that a claim holds are skipped instead of waited for, because that claim may wait for an instance of
this statement (rule H8). Keys and slots are inserted last. A CTE cannot undo another one (H6), so an unforeseen conflict (a
key that was taken after the statement began) divides by zero, which rolls back the whole statement. The commits of the batch
are then committed one by one (`fallback_commit.py`).

Nearly all guards hold. If the guards are versions, effects whose results are committed, or work rows of the transaction's own
claim, the statement is first sent *confidently*: it reads and locks nothing before it writes. If a row is not as expected, the
statement divides by zero or violates a key, and the batch is sent again as described above. The confident statement needs
neither a second write per kind nor a join with `ok`.

Deletes run before inserts into the same table: an insert depends on the number of deleted rows, whatever it is. LIMIT is
never a parameter. The text contains only the kinds that occur: there is one text per shape, prepared once per lane.
"""

# ruff: noqa: S608 - names and conditions in these texts are ours, every value is a parameter

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from holdfast.model.work import CANCELED
from holdfast.persistence.sql.first_segment import NEW_COLUMNS, keep_first
from holdfast.persistence.sql.instance_tables import BOOKMARK, EFFECT, INCIDENT, JOURNAL, VALUE
from holdfast.persistence.sql.postgresql.dialect import POSTGRESQL
from holdfast.persistence.sql.postgresql.rows import CHANGED, NEW, NOTHING, BatchRows
from holdfast.persistence.sql.records import RECORD, written_over
from holdfast.persistence.sql.tables import Table
from holdfast.persistence.sql.work_tables import DEAD_LETTER, INBOX, OUTBOX, WORK

_TYPES: Mapping[str, str] = {
    "number": "int4", "does": "int4", "needed": "int4", "version": "int4", "definition_version": "int4",
    "incidents": "int4", "first_entry": "int4", "entries": "int4", "seq": "int4", "attempt": "int4",
    "first_entries": "int4", "urgency": "int4", "bookmark_seq": "int4", "attempts": "int4",
    "is_system": "int2", "is_open": "int2",
    "created": "int8", "updated": "int8", "finished": "int8", "written": "int8", "wake_key": "int8",
    "correlation": "int8", "occurred": "int8", "execution": "int8", "owner_boot": "int8", "deadline": "int8",
    "due": "int8", "next_due": "int8", "died": "int8", "arrived": "int8", "expires": "int8",
    "address": "int8",
    "state": "bytea", "first_data": "bytea", "data": "bytea", "payload": "bytea", "inputs": "bytea", "error": "bytea",
}  # fmt: skip
"""Types by the name of the column. Columns that are not listed are texts."""

_CHANGES = (
    "version, burst_id, status, content, definition_version, correlation_id, name, incidents, updated, finished, state"
)
_SEGMENT = "first_entry, entries, written, data"
"""Columns of the journal segment of a changed instance. It is written together with the instance's row."""
_UNLIST = "insert into hf_unlisted (shard, is_new, tenants, ids, createds) select"
_EFFECT_KEY = "tenant, instance_id, execution"
_ADDED: Mapping[str, Table[Any]] = {
    "journal": JOURNAL, "bookmark_added": BOOKMARK, "effect_added": EFFECT, "incident_added": INCIDENT,
    "value_added": VALUE, "work_added": WORK, "inbox_added": INBOX, "outbox_added": OUTBOX, "dead_letter": DEAD_LETTER,
    "record": RECORD,
}  # fmt: skip
_GONE = {
    "bookmark_burned": ("hf_bookmark", "tenant, wake_key, correlation, instance_id, seq"),
    "work_consumed": ("hf_work", "tenant, id"),
    "inbox_consumed": ("hf_inbox", "tenant, id"),
    "effect_consumed": ("hf_effect", _EFFECT_KEY),
    "effect_dropped": ("hf_effect", _EFFECT_KEY),
    "value_dropped": ("hf_value", "tenant, instance_id, ref"),
    "guard_released": ("hf_guard", "tenant, kind, name, instance_id"),
}
"""Table and key columns of deleted rows."""
KINDS = {
    "commits": "number, does, needed, tenant, id, version",
    "new": "number, " + NEW_COLUMNS,
    "changed": f"number, tenant, id, {_CHANGES}, {_SEGMENT}",
    "guard_taken": "number, tenant, kind, name, fingerprint, instance_id, created",
    "effect_consumed": f"number, {_EFFECT_KEY}, attempt, owner_node, owner_boot",
    "effect_canceled": f"number, {_EFFECT_KEY}",
    "incident_resolved": "number, tenant, instance_id, id",
    "work_dropped": "number, tenant, id",
    "schedule_fired": "number, tenant, id, due, next_due",
    **{kind: "number, " + table.columns for kind, table in _ADDED.items()},
    **{kind: "number, " + columns for kind, (_, columns) in _GONE.items() if kind != "effect_consumed"},
}
_HELD = {
    "work_consumed": ("hf_work", "tenant, id", "", " skip locked"),
    "inbox_consumed": ("hf_inbox", "tenant, id", "", ""),
    "effect_consumed": ("hf_effect", _EFFECT_KEY, "attempt, owner_node, owner_boot", ""),
    "schedule_fired": ("hf_schedule", "tenant, id", "due", ""),
}
"""Table, key, other columns that must match, locking clause. The other columns are compared as a row, so that only the key can
use an index: a plan made for an empty table may choose the index on owners, and then each commit would read all effects of
its node."""


ROW_TYPE = "hf_row_"
"""Prefix of the composite types that the migrations create, one per kind: an array of rows is one parameter."""
_SAME_TYPE = {"effect_canceled": "effect_dropped"}
"""Kinds that use the composite type of another kind with the same columns."""


def row_type_of(kind: str) -> str:
    return ROW_TYPE + _SAME_TYPE.get(kind, kind)


def type_of(column: str) -> str:
    return _TYPES.get(column, "text")


def statement_of(rows: BatchRows, *, confident: bool = False) -> tuple[str, list[Any]]:
    """The text for these rows, and its parameters."""
    kinds = rows.kinds
    shape = _shape(tuple(kinds))
    single = len(rows.batch) == 1 and all(len(found) == 1 for found in kinds.values())
    given = [kinds[kind] for kind in shape]
    if not confident and (rows.guarded or not rows.have_instances):
        shape, given = ("commits", *shape), [rows.commits(), *given]
    values = [value for (row,) in given for value in row] if single else given
    return (_confident(shape, single) if confident else _text(shape, rows.guarded, single)), values


@lru_cache(maxsize=1024)
def _shape(kinds: tuple[str, ...]) -> tuple[str, ...]:
    """The kinds in the order of `KINDS`."""
    return tuple(kind for kind in KINDS if kind in kinds)


@lru_cache(maxsize=1024)
def _confident(shape: tuple[str, ...], single: bool) -> str:
    text = _Text(shape, single, confident=True)
    parts = []
    if "new" in text:
        parts.append(_insert_instances(text))
    if "changed" in text:
        parts.append(_update_instances(text))
    parts += [*_deletes(text), *_inserts(text)]
    lists = _lists(text)
    counted = (("changed", "moved"), *((kind, f"gone_{kind}") for kind in _HELD))
    fits = " and ".join(text.all_in(name, kind) for kind, name in counted if kind in text)
    # If all instances are new, there is nothing to check, and the last insert is the main statement.
    if not fits and lists:
        *lists, (_, end) = lists
    else:
        end = f"select 1 / (case when {fits or 'true'} then 1 else 0 end)"
    return f"with {', '.join([*parts, *_named(lists)])} {end}"


@lru_cache(maxsize=1024)
def _text(shape: tuple[str, ...], guarded: bool, single: bool) -> str:
    text = _Text(shape, single)
    parts = [
        *(_guarded(text) if guarded else _versioned(text)),
        *_deletes(text),
        *_inserts(text),
        *_named(_lists(text)),
    ]
    taken_back = f", 1 / (case when {_counts(text)} then 1 else 0 end)" if guarded else ""
    return f"with {', '.join(parts)} select array(select number from ok){taken_back}"


class _Text:
    """Parameters of each kind: one array of rows; for a single commit with single rows, one parameter per column."""

    def __init__(self, shape: Sequence[str], single: bool, *, confident: bool = False) -> None:
        self.single = single
        self.confident = confident
        self.of_ok = (
            "true" if confident else "exists (select 1 from ok)" if single else "u.number in (select number from ok)"
        )
        """Condition that the commit of the row `u` is accepted."""
        self._counts: dict[str, str] = {}
        self._sources: dict[str, str] = {}
        place = 0
        for kind in shape:
            if not single:
                place += 1
                self._sources[kind] = f"unnest(${place}::{row_type_of(kind)}[]) u"
                self._counts[kind] = f"cardinality(${place})"
                continue
            columns = []
            for column in KINDS[kind].split(", "):
                place += 1
                columns.append(f"${place}::{type_of(column)} as {column}")
            self._sources[kind] = f"(select {', '.join(columns)}) u"

    def __contains__(self, kind: str) -> bool:
        return kind in self._sources

    def rows(self, kind: str) -> str:
        """The rows of a kind with the alias `u`."""
        return self._sources[kind]

    def all_in(self, part: str, kind: str) -> str:
        """Condition that a part of the statement wrote every row of the kind. For one row, EXISTS is faster than a count."""
        return (
            f"exists (select from {part})" if self.single else f"(select count(*) from {part}) = {self._counts[kind]}"
        )

    def after(self, part: str) -> str:
        """A condition that is always true, but makes PostgreSQL run that part first."""
        return f"(select true from {part}) is not false" if self.single else f"(select count(*) from {part}) >= 0"


def _matching(columns: str, table: str = "t") -> str:
    return " and ".join(f"{table}.{column} = u.{column}" for column in columns.split(", "))


def _unchanged(columns: str) -> str:
    return f" and {_row('t', columns)} is not distinct from {_row('u', columns)}" if columns else ""


def _row(table: str, columns: str) -> str:
    return f"row({', '.join(f'{table}.{column}' for column in columns.split(', '))})"


def _as_expected(text: _Text, kind: str) -> str:
    """Conditions of a confident delete: it checks the row, and runs after the instances, which is the lock order."""
    if not text.confident or kind not in _HELD:
        return ""
    first = f" and {text.after('moved')}" if "changed" in text else ""
    return _unchanged(_HELD[kind][2]) + first


def _insert_instances(text: _Text, where: str = "") -> str:
    made = "" if text.confident else " on conflict do nothing returning tenant, id, created"
    return (
        f"made as (insert into hf_instance ({NEW_COLUMNS}) select {NEW_COLUMNS} from {text.rows('new')}{where}{made})"
    )


def _update_instances(text: _Text, where: str = "") -> str:
    changes = ", ".join(f"{column} = u.{column}" for column in _CHANGES.split(", "))
    segment = ", ".join(f"u.{column}" for column in _SEGMENT.split(", "))
    return (
        f"moved as (update hf_instance t set {keep_first('t.')}, {changes} from {text.rows('changed')}"
        f" where {_matching('tenant, id')} and t.version = u.version - 1{where}"
        f" returning u.number, t.tenant, t.id, t.created, u.version, u.burst_id, {segment})"
    )


def _versioned(text: _Text) -> Iterator[str]:
    """`ok` if versions are the only guards."""
    written = []
    if "commits" in text:
        written.append(f"select u.number from {text.rows('commits')} where u.does = {NOTHING}")
    if "new" in text:
        yield _insert_instances(text)
        joined = f"select u.number from {text.rows('new')} join made t on {_matching('tenant, id')}"
        written.append("select 0 as number from made" if text.single else joined)
    if "changed" in text:
        yield _update_instances(text)
        written.append("select number from moved")
    yield f"ok as materialized ({' union all '.join(written)})"


def _guarded(text: _Text) -> Iterator[str]:
    """`ok` by all rows that can be locked and read. All later writes must then succeed."""
    conditions = []
    if "changed" in text:
        yield (
            f"locked as materialized (select u.number from {text.rows('commits')}"
            f" join hf_instance t on {_matching('tenant, id')} where u.does = {CHANGED} and t.version = u.version - 1"
            " order by u.number for update of t)"
        )
        conditions.append(f"(u.does <> {CHANGED} or u.number in (select number from locked))")
    if "new" in text:
        yield (
            f"there as materialized (select u.number from {text.rows('commits')}"
            f" join hf_instance t on {_matching('tenant, id')} where u.does = {NEW})"
        )
        conditions.append("u.number not in (select number from there)")
    if "guard_taken" in text:
        yield (
            f"taken as materialized (select u.number from {text.rows('guard_taken')}"
            f" join hf_guard t on {_matching('tenant, kind, name')})"
        )
        conditions.append("u.number not in (select number from taken)")
    held = [kind for kind in _HELD if kind in text]
    for kind in held:
        table, key, same, skip = _HELD[kind]
        yield (
            f"held_{kind} as materialized (select u.number from {text.rows(kind)}"
            f" join {table} t on {_matching(key)}{_unchanged(same)} for update of t{skip})"
        )
    counted = " union all ".join(f"select number from held_{kind}" for kind in held)
    if held:
        conditions.append("coalesce(h.rows, 0) = u.needed")
    counts = f" left join (select number, count(*) as rows from ({counted}) c group by number) h using (number)"
    yield (
        f"ok as materialized (select u.number, u.does from {text.rows('commits')}{counts if held else ''}"
        f" where {' and '.join(conditions) or 'true'})"
    )
    of_ok = text.of_ok
    if "new" in text:
        yield _insert_instances(text, f" where {of_ok}")
    if "changed" in text:
        yield _update_instances(text, f" and {of_ok}")
    if "guard_taken" in text:
        columns = "tenant, kind, name, fingerprint, instance_id, created"
        yield (
            f"guarded as (insert into hf_guard ({columns}) select {columns} from {text.rows('guard_taken')}"
            f" where {of_ok} order by tenant, kind, name on conflict do nothing returning 1)"
        )


def _counts(text: _Text) -> str:
    """Condition that all rows of `ok` commits were written."""
    written = [
        name for kind, name in (("new", "made"), ("changed", "moved"), ("guard_taken", "guarded")) if kind in text
    ]
    expected = [f"(select count(*) from ok where does in ({NEW}, {CHANGED}))"]
    if "guard_taken" in text:
        expected.append(f"(select count(*) from {text.rows('guard_taken')} where {text.of_ok})")
    return " + ".join([f"(select count(*) from {name})" for name in written] or ["0"]) + " = " + " + ".join(expected)


def _deletes(text: _Text) -> Iterator[str]:
    for kind, (table, key) in _GONE.items():
        if kind in text:
            yield (
                f"gone_{kind} as (delete from {table} t using {text.rows(kind)}"
                f" where {_matching(key)} and {text.of_ok}{_as_expected(text, kind)} returning 1)"
            )
    if "work_dropped" in text:
        yield (
            f"free as materialized (select t.tenant, t.id from {text.rows('work_dropped')} join hf_work t"
            f" on {_matching('tenant, id')} where {text.of_ok} for update of t skip locked)"
        )
        yield f"gone_work_dropped as (delete from hf_work t using free u where {_matching('tenant, id')} returning 1)"
    if "effect_canceled" in text:
        yield (
            f"ending as (update hf_effect t set on_lost = '{CANCELED}' from {text.rows('effect_canceled')}"
            f" where {_matching(_EFFECT_KEY)} and {text.of_ok})"
        )
    if "incident_resolved" in text:
        yield (
            f"resolved as (update hf_incident t set is_open = 0 from {text.rows('incident_resolved')}"
            f" where {_matching('tenant, instance_id, id')} and {text.of_ok})"
        )
    if "schedule_fired" in text:
        yield (
            f"fired as (update hf_schedule t set due = u.next_due, fired = u.due from {text.rows('schedule_fired')}"
            f" where {_matching('tenant, id, due')} and {text.of_ok})"
        )


_BEFORE = {
    "bookmark_added": ("bookmark_burned",),
    "effect_added": ("effect_consumed", "effect_dropped"),
    "value_added": ("value_dropped",),
    "work_added": ("work_consumed", "work_dropped"),
    "inbox_added": ("inbox_consumed",),
}
"""Kinds that must be deleted before rows of this kind are inserted, so that a key can be reused."""


_AGAIN = {"inbox_added": " on conflict do nothing", "record": " " + written_over(POSTGRESQL)}
"""Conflict clauses of kinds whose key may be stored already."""


def _inserts(text: _Text) -> Iterator[str]:
    for kind, table in _ADDED.items():
        if kind in text:
            first = "".join(f" and {text.after(f'gone_{gone}')}" for gone in _BEFORE.get(kind, ()) if gone in text)
            once = _AGAIN.get(kind, "")
            yield (
                f"{kind} as (insert into {table.name} ({table.columns}) select {table.columns} from {text.rows(kind)}"
                f" where {text.of_ok}{first}{once})"
            )
    if "changed" in text:
        yield (
            f"segments as (insert into hf_journal (tenant, instance_id, version, burst_id, {_SEGMENT})"
            f" select tenant, id, version, burst_id, {_SEGMENT} from moved)"
        )


def _lists(text: _Text) -> list[tuple[str, str]]:
    """Names and inserts of the keys that the projector must list (`list_projection.py`), for new and for changed instances. In
    a confident statement, all instances are written."""
    gather, by = ("array[{}]", "") if text.single else ("array_agg({})", " group by 1")
    gathered = ", ".join(gather.format(column) for column in ("tenant", "id", "created"))
    return [
        (f"unlisted_{kind}", f"{_UNLIST} hf_shard(id), {is_new}, {gathered} from {written}{by}")
        for kind, written, is_new in (
            ("new", text.rows("new") if text.confident and "new" in text else "made", True),
            ("changed", "moved", False),
        )
        if kind in text
    ]


def _named(parts: Sequence[tuple[str, str]]) -> list[str]:
    return [f"{name} as ({part})" for name, part in parts]
