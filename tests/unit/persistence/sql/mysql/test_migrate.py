"""Migrations of a MySQL database: step by step, concurrently, and continued after an interruption."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files
from urllib.parse import urlsplit

import pytest

from holdfast.errors import SchemaMismatch, StoreMisconfigured, StoreUnavailable
from holdfast.persistence import store_from_url
from holdfast.persistence.retry import RetryPolicy
from holdfast.persistence.sql import migrations
from holdfast.persistence.sql.migrations import migrations_of, statements_of
from holdfast.testing import faults
from holdfast.testing.store_process import answer_of, start
from tests.support import legacy_rows as filled_before
from tests.support.services.mysql import Rows, executed, mysql_database, need_mysql

pytestmark = pytest.mark.service("mysql")
need_mysql()

AT_ONCE = RetryPolicy(retries=0)
KNOWN = migrations_of("mysql")
LABELS = tuple(migration.label for migration in KNOWN)
STEPS = sum(len(migration.statements) for migration in KNOWN)


@pytest.fixture
def database() -> Iterator[str]:
    """An empty database for each test."""
    with mysql_database() as url:
        yield url


def as_user(url: str, user: str, password: str) -> str:
    parts = urlsplit(url)
    return parts._replace(netloc=f"{user}:{password}@{parts.netloc.rpartition('@')[2]}").geturl()


async def shape_of(url: str) -> Rows:
    """Columns and indexes in the information schema."""
    columns = await executed(
        url,
        "select table_name, ordinal_position, column_name, column_type, is_nullable, column_default, column_key"
        " from information_schema.columns where table_schema = database() order by table_name, ordinal_position",
    )
    indexes = await executed(
        url,
        "select table_name, index_name, seq_in_index, column_name, non_unique from information_schema.statistics"
        " where table_schema = database() order by table_name, index_name, seq_in_index",
    )
    tables = await executed(
        url,
        "select table_name, engine, row_format from information_schema.tables where table_schema = database()"
        " order by table_name",
    )
    return columns + indexes + tables


async def test_schema_from_scratch_equals_all_migrations_in_order(database: str) -> None:
    await store_from_url(database).migrate()
    migrated = await shape_of(database)
    tables = {str(row[0]) for row in migrated}
    await executed(database, "drop table " + ", ".join(sorted(tables)))

    text = files(migrations).joinpath("mysql/schema.sql").read_text(encoding="utf-8")
    await executed(database, *(statement.rstrip(";") for statement in statements_of(text)))

    assert await shape_of(database) == migrated
    assert len(tables) > 18


async def test_stored_data_survives_a_migration(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("holdfast.persistence.sql.mysql.migrate.migrations_of", lambda dialect: KNOWN[:3])
        await store_from_url(database).migrate()
    await executed(database, *filled_before.inserts("x'{}'"))
    store = store_from_url(database)

    await store.open()

    await filled_before.check(store)
    await store.close()


def test_numbers_follow_each_other() -> None:
    numbers = [migration.number for migration in KNOWN]

    assert numbers == list(range(1, len(numbers) + 1))
    assert len(numbers) > 1


async def test_all_stores_have_the_same_tables(database: str) -> None:
    await store_from_url(database).migrate()
    ours = {str(row[0]) for row in await executed(database, "show tables")}
    sqlite = files(migrations).joinpath("sqlite/schema.sql").read_text(encoding="utf-8")
    theirs = {line.split()[2] for line in sqlite.splitlines() if line.lower().startswith("create table")}

    # Triggers keep hf_tally elsewhere. On MySQL they would need rights that many servers do not give.
    assert ours - {"hf_change", "hf_tally_delta"} == theirs


async def test_migrate_reports_what_it_applied(database: str) -> None:
    store = store_from_url(database)

    before, done, again = await store.migrate(check=True), await store.migrate(), await store.migrate()

    assert (before.schema, before.pending, before.applied) == (0, LABELS, ())
    assert (done.schema, done.pending, done.applied) == (len(LABELS), (), LABELS)
    assert (again.schema, again.pending, again.applied) == (len(LABELS), (), ())


async def test_checking_changes_nothing(database: str) -> None:
    await store_from_url(database).migrate(check=True)

    assert await executed(database, "show tables") == []


async def test_a_schema_that_is_older_names_the_remedy(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("holdfast.persistence.sql.mysql.migrate.migrations_of", lambda dialect: KNOWN[:1])
        await store_from_url(database).migrate()
    store = store_from_url(database)

    with pytest.raises(SchemaMismatch, match=r"has schema 1, .* needs \d+\. Run: holdfast migrate"):
        await store.open(migrate=False)
    await store.open(migrate=True)
    await store.close()


async def test_a_schema_that_is_newer_names_the_remedy(database: str) -> None:
    await store_from_url(database).migrate()
    await executed(database, "insert into hf_migration values (9999, 'future', 'x', 1, 0)")

    for migrating in (True, False):
        with pytest.raises(SchemaMismatch, match=r"has schema 9999.*Upgrade Holdfast"):
            await store_from_url(database).open(migrate=migrating)


async def test_an_empty_database_is_refused_without_migrate(database: str) -> None:
    with pytest.raises(SchemaMismatch, match="has schema 0"):
        await store_from_url(database).open(migrate=False)


@pytest.mark.parametrize("step", [0, 1, 2, STEPS // 2, STEPS - 1])
async def test_an_interrupted_migration_is_continued(database: str, step: int) -> None:
    """Interrupted after a statement and before it was counted: rows are written once, tables created once."""
    store = store_from_url(database)
    with faults.at("migrate.step", faults.raising(LookupError), after=step), pytest.raises(LookupError):
        await store.migrate()

    begun = await store.migrate(check=True)
    report = await store.migrate()

    assert begun.pending == (LABELS if step < STEPS - 1 else LABELS[-1:])
    assert report.applied == begun.pending
    assert await executed(database, "select name, value from hf_counter order by name") == [("boot", 0), ("epoch", 0)]
    assert await executed(database, "select count(*) from hf_change") == [(256,)]
    text = files(migrations).joinpath("mysql/schema.sql").read_text(encoding="utf-8")
    assert len(await executed(database, "show tables")) == len(statements_of(text))


async def test_an_interrupted_migration_of_another_version_is_refused(database: str) -> None:
    store = store_from_url(database)
    with faults.at("migrate.step", faults.raising(LookupError), after=3), pytest.raises(LookupError):
        await store.migrate()
    await executed(database, "update hf_migration set checksum = 'other'")

    with pytest.raises(SchemaMismatch, match="was interrupted, and has other content"):
        await store.migrate()


def test_ten_starters_migrate_once(database: str) -> None:
    starters = [start("migrate", database) for _ in range(10)]

    answers = [answer_of(starter) or {} for starter in starters]

    assert sorted(answer["applied"] for answer in answers) == [0] * 9 + [len(LABELS)]


async def test_a_database_that_does_not_exist(database: str) -> None:
    with pytest.raises(StoreMisconfigured, match=r"no database '\w+_nope' .* CREATE DATABASE"):
        await store_from_url(database + "_nope").open()


async def test_a_user_that_is_refused(database: str) -> None:
    wrong = as_user(database, "unknown_user", "secret")

    with pytest.raises(StoreMisconfigured, match="refuses user 'unknown_user'") as raised:
        await store_from_url(wrong).open()

    assert "secret" not in str(raised.value)


async def test_a_user_without_rights(database: str) -> None:
    """The user may read, but not create tables."""
    user = f"hf_{database[-8:]}"
    name = database.rpartition("/")[2]
    await executed(database, f"create user {user} identified by 'pw'", f"grant select on {name}.* to {user}")
    try:
        with pytest.raises(StoreMisconfigured, match=rf"User '{user}' may not .* GRANT ALL ON `{name}`"):
            await store_from_url(as_user(database, user, "pw")).open()
    finally:
        await executed(database, f"drop user {user}")


async def test_a_server_that_does_not_answer() -> None:
    with pytest.raises(StoreUnavailable, match=r"database call failed|No server answers at 127\.0\.0\.1:1"):
        await store_from_url("mysql://root@127.0.0.1:1/flows", retry=AT_ONCE).open()
