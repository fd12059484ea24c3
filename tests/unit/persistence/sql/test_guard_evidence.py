"""Evidence for guards: read from the database, and changed by accepted commits."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Sequence
from contextlib import closing
from pathlib import Path

import pytest

from holdfast.model.commit import COMMITTED, Commit
from holdfast.model.guard import Guard, GuardKind, GuardRef
from holdfast.model.stored import InstanceKey
from holdfast.model.work import EffectRef, Owner
from holdfast.persistence.guard_rules import Holder
from holdfast.persistence.sql.guard_evidence import GuardEvidence, gather
from holdfast.persistence.sql.sqlite import SqliteStore
from holdfast.persistence.sql.sqlite.connection import run
from holdfast.testing.store_rows import commit_of, effect, instance, settlement, stimulus, work

KEY = GuardRef(GuardKind.KEY, "order-1")
GUARD = Guard(kind=GuardKind.KEY, name="order-1", fingerprint="f")


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Path]:
    """A database with one instance and one row of each guarded kind."""
    path = tmp_path / "holdfast.db"
    store = SqliteStore(path)
    await store.open()
    stored = commit_of(
        instance("i"),
        guards_taken=(GUARD,),
        work_added=(work("", id="w"),),
        inbox_added=(stimulus("", id="s"),),
        effects_added=(effect("", "i", execution=1),),
    )
    assert await store.commit([stored]) == [COMMITTED]
    yield path
    await store.close()


def evidence_of(database: Path, batch: Sequence[Commit]) -> GuardEvidence:
    with closing(sqlite3.connect(database)) as connection:
        return run(connection, gather(batch, ""))


async def test_every_guarded_row_is_read(database: Path) -> None:
    commit = commit_of(
        instance("i", 2),
        guards_taken=(GUARD,),
        work_consumed=("w", "missing"),
        inbox_consumed=("s",),
        effects_consumed=(EffectRef(1, 1, Owner("n", 1)),),
    )
    found = evidence_of(database, [commit])

    assert found.version_of(InstanceKey("", "i")) == 1
    assert found.holder_of("", KEY) == Holder("i", "f")
    assert (found.has_work("", "w"), found.has_work("", "missing")) == (True, False)
    assert found.has_inbox("", "s")
    assert found.effect_of("", "i", 1) is not None


async def test_a_missing_instance_has_version_0(database: Path) -> None:
    assert evidence_of(database, [commit_of(instance("new"))]).version_of(InstanceKey("", "new")) == 0


async def test_the_burst_of_a_version_conflict_is_read(database: Path) -> None:
    again, first = commit_of(instance("i")), InstanceKey("", "i")

    assert evidence_of(database, [again]).burst_of(first, 1) is not None
    assert evidence_of(database, [commit_of(instance("i", 2))]).burst_of(first, 1) is None


async def test_tenants_are_separate(database: Path) -> None:
    found = evidence_of(database, [settlement("other", work_consumed=("w",))])

    assert not found.has_work("other", "w")


async def test_an_accepted_commit_consumes_rows_and_moves_guards(database: Path) -> None:
    release = commit_of(instance("i", 2), guards_released=(KEY,), work_consumed=("w",), inbox_consumed=("s",))
    take = commit_of(instance("j"), guards_taken=(GUARD,))
    found = evidence_of(database, [release, take])
    found.apply(release)

    assert found.holder_of("", KEY) is None
    assert not found.has_work("", "w")
    assert not found.has_inbox("", "s")

    found.apply(take)
    assert found.holder_of("", KEY) == Holder("j", "f")
