"""The text of the commit statement, without a server."""

from __future__ import annotations

import re
from importlib.resources import files

import pytest
from msgspec.structs import replace

from holdfast.model.commit import Commit
from holdfast.model.guard import activation_slot
from holdfast.model.work import EffectRef, Owner
from holdfast.persistence.codec import PayloadCodec
from holdfast.persistence.sql import migrations
from holdfast.persistence.sql.postgresql.connection import numbered
from holdfast.persistence.sql.postgresql.rows import rows_of
from holdfast.persistence.sql.postgresql.statement import KINDS, row_type_of, statement_of, type_of
from holdfast.testing.store_rows import bookmark, commit_of, instance, settlement, work

CODEC = PayloadCodec()
FULL_NAMES = {"int2": "smallint", "int4": "integer", "int8": "bigint"}


def text_of(*batch: Commit) -> tuple[str, list[object]]:
    return statement_of(rows_of(batch, CODEC))


def test_every_kind_of_row_is_a_type_of_the_schema() -> None:
    schema = files(migrations).joinpath("postgresql/schema.sql").read_text(encoding="utf-8")
    types = {
        name: [" ".join(column.split()) for column in body.split(",")]
        for name, body in re.findall(r"create type (\w+) as \(([^)]*)\)", schema)
    }

    assert types == {
        row_type_of(kind): [f"{name} {FULL_NAMES.get(type_of(name), type_of(name))}" for name in columns.split(", ")]
        for kind, columns in KINDS.items()
    }


def test_a_batch_is_one_parameter_per_kind_of_row() -> None:
    sql, values = text_of(*(commit_of(instance(name), bookmarks_added=(bookmark("", name),)) for name in "ab"))

    assert len(values) == 2  # instances with their journal, bookmarks
    assert all(isinstance(value, list) and len(value) == 2 for value in values)
    assert "hf_row_new[]" in sql
    assert "hf_row_commits[]" not in sql


def test_commits_without_an_instance_are_listed() -> None:
    rows_only = Commit(burst_id="rows", work_added=(work(""),))
    sql, values = text_of(commit_of(instance("a")), rows_only)

    assert len(values) == 3  # commits, instances with their journal, work
    assert "hf_row_commits[]" in sql


def test_a_batch_of_one_is_scalar() -> None:
    sql, values = text_of(commit_of(instance("a")))

    assert "unnest" not in sql
    assert not any(isinstance(value, list) for value in values)


def test_the_same_shape_is_the_same_text_whatever_the_size() -> None:
    few, _ = text_of(*(commit_of(instance(name)) for name in "ab"))
    many, _ = text_of(*(commit_of(instance(name)) for name in "abcdefg"))

    assert few == many


@pytest.mark.parametrize(
    ("commit", "locks"),
    [
        (commit_of(instance("a", 2)), False),
        (commit_of(instance("a", 2), work_dropped=("w",), work_added=(work(""),)), False),
        (commit_of(instance("a", 2), guards_taken=(activation_slot(strategy="singleton"),)), True),
        (commit_of(instance("a", 2), work_consumed=("w",)), True),
        (commit_of(instance("a", 2), inbox_consumed=("s",)), True),
        (commit_of(instance("a", 2), effects_consumed=(EffectRef(1, 1, Owner("n", 1)),)), True),
        (settlement("", work_consumed=("w",)), True),
    ],
    ids=["version", "a hint dropped", "slot", "work", "inbox", "effect", "without an instance"],
)
def test_locks_come_first_only_with_more_guards_than_a_version(commit: Commit, locks: bool) -> None:
    sql, _ = text_of(commit)

    assert ("1 / (case" in sql) is locks
    assert ("locked as" in sql) is (locks and commit.instance is not None)


@pytest.mark.parametrize(
    ("commit", "counted"),
    [
        (commit_of(instance("a"), bookmarks_added=(bookmark("", "a"),)), ""),
        (commit_of(instance("a", 2), bookmarks_added=(bookmark("", "a"),)), "moved"),
        (commit_of(instance("a", 2), effects_consumed=(EffectRef(1, 1, Owner("n", 1)),)), "gone_effect_consumed"),
        (settlement("", work_added=(work(""),)), ""),
    ],
    ids=["a start", "a version", "an effect", "rows alone"],
)
def test_a_confident_statement_checks_after_the_write(commit: Commit, counted: str) -> None:
    rows = rows_of([commit, replace(commit, burst_id="other")], CODEC)
    sql, _ = statement_of(rows, confident=True)

    assert rows.may_be_confident(claimed=False)
    assert not re.search(r"on conflict|for update|\bok\b", sql)
    assert (f"(select count(*) from {counted}) = cardinality(" in sql) is bool(counted)


def test_work_of_another_claim_is_checked_first() -> None:
    rows = rows_of([settlement("", work_consumed=("w",))], CODEC)

    assert (rows.may_be_confident(claimed=True), rows.may_be_confident(claimed=False)) == (True, False)


def test_claimed_work_is_never_waited_for() -> None:
    sql, _ = text_of(commit_of(instance("a", 2), work_consumed=("w",), work_dropped=("x",)))

    assert sql.count("skip locked") == 2
    assert len(re.findall("from hf_work|join hf_work", sql)) == 4


def test_no_limit_is_a_parameter() -> None:
    sql, _ = text_of(commit_of(instance("a", 2), work_consumed=("w",), bookmarks_added=(bookmark("", "a"),)))

    assert not re.search(r"limit\s+\$", sql)


def test_placeholders_are_numbered() -> None:
    assert numbered("a = ? and b in (?, ?)") == "a = $1 and b in ($2, $3)"
    assert numbered("select 1") == "select 1"
