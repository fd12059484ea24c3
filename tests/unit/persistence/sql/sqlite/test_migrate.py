"""Migrations of a SQLite file: step by step, concurrently, and refused for an unknown schema."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from importlib.resources import files
from pathlib import Path

import pytest

from holdfast.errors import SchemaMismatch, StoreMisconfigured
from holdfast.persistence.sql import migrations
from holdfast.persistence.sql.migrations import Migration, migrations_of, pending_after, statements_of
from holdfast.persistence.sql.sqlite import SqliteStore
from holdfast.persistence.sql.sqlite.migrate import migrate
from holdfast.testing import faults
from holdfast.testing.store_process import answer_of, start
from tests.support import legacy_rows as filled_before

Shape = dict[str, list[tuple[object, ...]]]


@pytest.fixture
def connection(database: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(database, isolation_level=None)) as connection:
        yield connection


def shape_of(connection: sqlite3.Connection) -> Shape:
    """Tables and indexes with their columns, from the database itself."""
    tables = [row[0] for row in connection.execute("select name from sqlite_master where type = 'table' order by name")]
    shape: Shape = {}
    for table in tables:
        shape[table] = connection.execute(f"pragma table_info({table})").fetchall()
        for _, index, unique, origin, partial in connection.execute(f"pragma index_list({table})").fetchall():
            columns = [row[2] for row in connection.execute(f"pragma index_info({index})")]
            shape[index] = [(unique, origin, partial, *columns)]
    return shape


def test_schema_from_scratch_equals_all_migrations_in_order(connection: sqlite3.Connection) -> None:
    migrate(connection)
    text = files(migrations).joinpath("sqlite/schema.sql").read_text(encoding="utf-8")
    with closing(sqlite3.connect(":memory:")) as scratch:
        for statement in statements_of(text):
            scratch.execute(statement)

        assert shape_of(scratch) == shape_of(connection)


def test_numbers_follow_each_other() -> None:
    numbers = [migration.number for migration in migrations_of("sqlite")]

    assert numbers == list(range(1, len(numbers) + 1))
    assert len(numbers) > 1


def test_migrate_reports_what_it_applied(connection: sqlite3.Connection) -> None:
    labels = tuple(migration.label for migration in migrations_of("sqlite"))

    before = migrate(connection, check=True)
    done = migrate(connection)
    again = migrate(connection)

    assert (before.schema, before.pending, before.applied) == (0, labels, ())
    assert (done.schema, done.pending, done.applied) == (len(labels), (), labels)
    assert (again.schema, again.pending, again.applied) == (len(labels), (), ())


async def test_checking_changes_nothing(database: Path, connection: sqlite3.Connection) -> None:
    await SqliteStore(database).migrate(check=True)

    assert connection.execute("select count(*) from sqlite_master").fetchone() == (0,)


async def test_a_schema_that_is_older_names_the_remedy(database: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    known = migrations_of("sqlite")
    with monkeypatch.context() as patch:
        patch.setattr("holdfast.persistence.sql.sqlite.migrate.migrations_of", lambda dialect: known[:1])
        await SqliteStore(database).migrate()
    store = SqliteStore(database)

    with pytest.raises(SchemaMismatch, match=r"has schema 1, .* needs \d+\. Run: holdfast migrate"):
        await store.open(migrate=False)
    await store.open(migrate=True)
    await store.close()


async def test_stored_data_survives_a_migration(
    database: Path, connection: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = migrations_of("sqlite")
    with monkeypatch.context() as patch:
        patch.setattr("holdfast.persistence.sql.sqlite.migrate.migrations_of", lambda dialect: known[:3])
        migrate(connection)
    for statement in filled_before.inserts("x'{}'"):
        connection.execute(statement)
    store = SqliteStore(database)

    await store.open()

    await filled_before.check(store)
    await store.close()


async def test_a_schema_that_is_newer_names_the_remedy(database: Path, connection: sqlite3.Connection) -> None:
    migrate(connection)
    connection.execute("insert into hf_migration values (9999, 'future', 'x', 0)")

    for migrating in (True, False):
        with pytest.raises(SchemaMismatch, match=r"has schema 9999.*Upgrade Holdfast"):
            await SqliteStore(database).open(migrate=migrating)


def test_a_migration_that_was_changed_afterwards_is_refused() -> None:
    known = [Migration(number=1, name="first", text="create table a (x integer);")]

    with pytest.raises(SchemaMismatch, match="other content"):
        pending_after([(1, "something else")], known)


async def test_an_empty_file_is_refused_without_migrate(database: Path) -> None:
    with pytest.raises(SchemaMismatch, match="has schema 0"):
        await SqliteStore(database).open(migrate=False)


def test_an_interrupted_migration_is_rolled_back(connection: sqlite3.Connection) -> None:
    with faults.at("migrate.step", faults.raising(InterruptedError), after=1), pytest.raises(InterruptedError):
        migrate(connection)

    assert migrate(connection, check=True).schema == 0
    assert migrate(connection).applied


def test_ten_starters_migrate_once(database: Path) -> None:
    starters = [start("migrate", f"sqlite:///{database}") for _ in range(10)]

    answers = [answer_of(starter) or {} for starter in starters]

    assert sorted(answer["applied"] for answer in answers) == [0] * 9 + [len(migrations_of("sqlite"))]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda path: path.write_bytes(b"this is no database " * 100), "not a valid SQLite database"),
        (lambda path: path.mkdir(), "cannot be opened"),
    ],
    ids=["another file", "a folder"],
)
async def test_files_without_a_database(database: Path, make: object, message: str) -> None:
    assert callable(make)
    make(database)

    with pytest.raises(StoreMisconfigured, match=message):
        await SqliteStore(database).open()


async def test_a_folder_that_does_not_exist(tmp_path: Path) -> None:
    with pytest.raises(StoreMisconfigured, match="folder exists"):
        await SqliteStore(tmp_path / "nowhere" / "a.db").open()
