"""The commit statement as text, and what goes into one batch: no server needed."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from importlib.resources import files

import pytest
from msgspec.structs import replace

from holdfast.model.commit import COMMITTED, Commit, CommitOutcome
from holdfast.model.guard import activation_slot
from holdfast.model.work import EffectRef, Owner
from holdfast.persistence.codec import PayloadCodec
from holdfast.persistence.sql import migrations
from holdfast.persistence.sql.postgresql.connection import numbered
from holdfast.persistence.sql.postgresql.group_commit import BATCH_BYTES_MAX, BATCH_MAX, Lanes
from holdfast.persistence.sql.postgresql.query_batch import Together
from holdfast.persistence.sql.postgresql.rows import rows_of
from holdfast.persistence.sql.postgresql.statement import KINDS, ROW_TYPE, statement_of, type_of
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
        ROW_TYPE + kind: [f"{name} {FULL_NAMES.get(type_of(name), type_of(name))}" for name in columns.split(", ")]
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
def test_locks_come_first_only_where_more_than_a_version_guards(commit: Commit, locks: bool) -> None:
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
def test_who_is_confident_counts_afterwards_instead_of_looking_before(commit: Commit, counted: str) -> None:
    rows = rows_of([commit, replace(commit, burst_id="other")], CODEC)
    sql, _ = statement_of(rows, confident=True)

    assert rows.may_be_confident(claimed=False)
    assert not re.search(r"on conflict|for update|\bok\b", sql)
    assert (f"(select count(*) from {counted}) = cardinality(" in sql) is bool(counted)


def test_work_of_somebody_elses_claim_is_looked_at_first() -> None:
    rows = rows_of([settlement("", work_consumed=("w",))], CODEC)

    assert (rows.may_be_confident(claimed=True), rows.may_be_confident(claimed=False)) == (True, False)


def test_work_in_the_hands_of_a_claim_is_never_waited_for() -> None:
    sql, _ = text_of(commit_of(instance("a", 2), work_consumed=("w",), work_dropped=("x",)))

    assert sql.count("skip locked") == 2
    assert len(re.findall("from hf_work|join hf_work", sql)) == 4


def test_no_limit_is_a_parameter() -> None:
    sql, _ = text_of(commit_of(instance("a", 2), work_consumed=("w",), bookmarks_added=(bookmark("", "a"),)))

    assert not re.search(r"limit\s+\$", sql)


def test_questions_are_numbered() -> None:
    assert numbered("a = ? and b in (?, ?)") == "a = $1 and b in ($2, $3)"
    assert numbered("select 1") == "select 1"


async def _batches(batches: Sequence[Sequence[Commit]]) -> list[list[str]]:
    """Which instances are committed together when all of these are asked for at once, on one lane."""
    seen: list[list[str]] = []

    async def commit(batch: Sequence[Commit]) -> list[CommitOutcome]:
        seen.append([each.instance.id for each in batch if each.instance is not None])
        await asyncio.sleep(0)
        return [COMMITTED] * len(batch)

    lanes = Lanes(commit, 1)
    outcomes = await asyncio.gather(*(lanes.submit(batch) for batch in batches))
    await lanes.close()
    assert [len(outcome) for outcome in outcomes] == [len(batch) for batch in batches]
    return seen


async def test_what_queued_up_is_one_batch_up_to_the_limit() -> None:
    seen = await _batches([[commit_of(instance(f"i{number}"))] for number in range(300)])

    assert [len(batch) for batch in seen] == [1, BATCH_MAX, BATCH_MAX, 299 - 2 * BATCH_MAX]


async def test_a_batch_never_names_an_instance_twice() -> None:
    same = [commit_of(instance("a", version)) for version in (1, 2, 3)]
    seen = await _batches([[same[0]], [same[1]], [commit_of(instance("b"))], [same[2]]])

    assert seen == [["a"], ["a", "b"], ["a"]]


async def test_batches_are_capped_by_bytes() -> None:
    large = [commit_of(instance(f"i{number}", state=b"x" * (BATCH_BYTES_MAX // 3))) for number in range(7)]

    assert [len(batch) for batch in await _batches([[commit] for commit in large])] == [1, 3, 3]


@pytest.mark.parametrize("hangs_up", [0, 1, 2])
async def test_who_hangs_up_cancels_nothing_of_others(hangs_up: int) -> None:
    started, go = asyncio.Event(), asyncio.Event()
    done: set[str] = set()

    async def commit(batch: Sequence[Commit]) -> list[CommitOutcome]:
        started.set()
        await go.wait()
        done.update(each.burst_id for each in batch)
        return [COMMITTED] * len(batch)

    lanes = Lanes(commit, 1)
    commits = [commit_of(instance(name)) for name in "abc"]
    callers = [asyncio.create_task(lanes.submit([each])) for each in commits]
    await started.wait()
    callers[hangs_up].cancel()
    go.set()
    await lanes.close()

    own = {commits[0].burst_id} if hangs_up == 0 else set()  # The first is under way in its caller's task.
    assert done == {each.burst_id for each in commits} - own
    assert [caller.cancelled() for caller in callers] == [place == hangs_up for place in range(3)]


async def test_a_batch_that_fails_is_told_to_its_callers_only() -> None:
    async def commit(batch: Sequence[Commit]) -> list[CommitOutcome]:
        if any(each.instance is not None and each.instance.id == "bad" for each in batch):
            raise LookupError("broken")
        return [COMMITTED] * len(batch)

    lanes = Lanes(commit, 1)

    with pytest.raises(LookupError):
        await lanes.submit([commit_of(instance("bad"))])
    assert await lanes.submit([commit_of(replace(instance("good")))]) == [COMMITTED]


async def test_questions_that_queue_up_are_asked_together() -> None:
    asked: list[list[int]] = []

    async def ask(questions: Sequence[int]) -> Sequence[str]:
        asked.append(list(questions))
        await asyncio.sleep(0)
        return [str(question) for question in questions]

    together = Together(ask, 1)
    answers = await asyncio.gather(together.ask([0]), *(together.ask([number, -number]) for number in range(1, 200)))
    await together.close()

    assert answers == [["0"], *([str(number), str(-number)] for number in range(1, 200))]
    assert [len(questions) for questions in asked] == [255, 144]


async def test_nobody_fails_for_anothers_question() -> None:
    async def ask(questions: Sequence[int]) -> Sequence[int]:
        return [1 // question for question in questions]

    together = Together(ask, 1)
    answers = await asyncio.gather(together.ask([1]), together.ask([0]), together.ask([1, 1]), return_exceptions=True)

    assert answers[0] == [1]
    assert isinstance(answers[1], ZeroDivisionError)
    assert answers[2] == [1, 1]
