"""Migrations of a PostgreSQL database: step by step, concurrently, and refused for an unknown schema."""

from __future__ import annotations

import asyncio
from importlib.resources import files
from urllib.parse import urlsplit

import pytest

from holdfast.errors import SchemaMismatch, StoreMisconfigured
from holdfast.persistence.sql import migrations
from holdfast.persistence.sql.migrations import migrations_of, statements_of
from holdfast.persistence.sql.postgresql import PostgresStore
from holdfast.persistence.sql.postgresql.connection import Connection
from holdfast.persistence.sql.postgresql.migrate import check_server, migrate
from holdfast.testing import faults
from holdfast.testing.store_process import answer_of, start
from tests.support import legacy_rows as filled_before

pytestmark = pytest.mark.service("postgres")

_COLUMNS = """select table_name, column_name, data_type, is_nullable, column_default, collation_name
    from information_schema.columns where table_schema = current_schema() order by 1, 2"""
_INDEXES = "select tablename, indexname, indexdef from pg_indexes where schemaname = current_schema() order by 1, 2"
_ATTRIBUTES = """select c.relname, c.relkind::text, coalesce(array_to_string(c.reloptions, ','), ''), a.attname,
    row_number() over (partition by c.relname order by a.attnum),
    format_type(a.atttypid, a.atttypmod), a.attstorage::text
    from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'c') order by 1, 5"""


@pytest.fixture
def connection(admin: Connection) -> Connection:
    return admin


@pytest.fixture
def url(database: str, admin: Connection) -> str:
    return database


async def shape_of(connection: Connection) -> list[list[tuple[object, ...]]]:
    """Tables, types and indexes in the system catalog."""
    return [[tuple(row) for row in await connection.fetch(sql)] for sql in (_COLUMNS, _INDEXES, _ATTRIBUTES)]


async def test_schema_from_scratch_equals_all_migrations_in_order(connection: Connection) -> None:
    await migrate(connection)
    migrated = await shape_of(connection)
    text = files(migrations).joinpath("postgresql/schema.sql").read_text(encoding="utf-8")
    await connection.execute("drop schema public cascade; create schema public")

    for statement in statements_of(text):
        await connection.execute(statement)

    assert await shape_of(connection) == migrated
    assert len(migrated[0]) > 100


async def test_migrate_reports_what_it_applied(connection: Connection) -> None:
    labels = tuple(migration.label for migration in migrations_of("postgresql"))

    before = await migrate(connection, check=True)
    nothing = await shape_of(connection)
    done = await migrate(connection)
    again = await migrate(connection)

    assert nothing == [[], [], []]
    assert (before.schema, before.pending, before.applied) == (0, labels, ())
    assert (done.schema, done.pending, done.applied) == (len(labels), (), labels)
    assert (again.schema, again.pending, again.applied) == (len(labels), (), ())


async def test_a_schema_that_is_missing_or_older_names_the_remedy(url: str) -> None:
    with pytest.raises(SchemaMismatch, match=r"has schema 0, .* needs \d+\. Run: holdfast migrate"):
        await PostgresStore(url).open(migrate=False)


async def test_stored_data_survives_a_migration(
    url: str, connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = migrations_of("postgresql")
    with monkeypatch.context() as patch:
        patch.setattr("holdfast.persistence.sql.postgresql.migrate.migrations_of", lambda dialect: known[:2])
        await migrate(connection)
    for statement in filled_before.inserts(r"'\x{}'"):
        await connection.execute(statement)
    store = PostgresStore(url)

    await store.open()

    await filled_before.check(store)
    await store.close()


async def test_a_schema_that_is_newer_names_the_remedy(url: str, connection: Connection) -> None:
    await migrate(connection)
    await connection.execute("insert into hf_migration values (9999, 'future', 'x', 0)")

    for migrating in (True, False):
        with pytest.raises(SchemaMismatch, match=r"has schema 9999.*Upgrade Holdfast"):
            await PostgresStore(url).open(migrate=migrating)


async def test_an_interrupted_migration_is_rolled_back(connection: Connection) -> None:
    with faults.at("migrate.step", faults.raising(InterruptedError)), pytest.raises(InterruptedError):
        await migrate(connection)

    assert await shape_of(connection) == [[], [], []]
    assert (await migrate(connection)).applied


async def test_ten_starters_migrate_once(url: str) -> None:
    starters = [start("migrate", url) for _ in range(10)]

    answers = await asyncio.gather(*(asyncio.to_thread(answer_of, starter) for starter in starters))

    applied = sorted((answer or {})["applied"] for answer in answers)
    assert applied == [0] * 9 + [len(migrations_of("postgresql"))]


async def test_a_user_without_rights_gets_the_missing_grant(url: str, connection: Connection) -> None:
    await connection.execute(
        "drop role if exists holdfast_guest; create role holdfast_guest login password 'guest';"
        "revoke create on schema public from public"
    )
    parts = urlsplit(url)
    guest = parts._replace(netloc=f"holdfast_guest:guest@{parts.netloc.rpartition('@')[2]}").geturl()

    try:
        with pytest.raises(StoreMisconfigured, match="grant usage, create on schema"):
            await PostgresStore(guest).open()
    finally:
        await connection.execute("drop role holdfast_guest")


def test_a_server_that_is_too_old_is_refused() -> None:
    class Version:
        major = 13

    class Old:
        def get_server_version(self) -> Version:
            return Version()

    with pytest.raises(StoreMisconfigured, match="PostgreSQL 13, Holdfast needs 14"):
        check_server(Old())  # type: ignore[arg-type]  # only what is asked of it
