"""Migrations of a PostgreSQL database: all pending ones in one transaction, under an advisory lock."""

from __future__ import annotations

from datetime import UTC, datetime

from holdfast.errors import StoreMisconfigured
from holdfast.model.upkeep import MigrationReport
from holdfast.persistence import faultpoints
from holdfast.persistence.sql.migrations import Migration, check_current, migrations_of, pending_after, report_of
from holdfast.persistence.sql.postgresql.connection import Connection
from holdfast.persistence.sql.postgresql.pool import in_transaction
from holdfast.persistence.sql.tables import micros

OLDEST = 14
LOCK = 4711_2014_0815
"""Advisory lock of migrations, one per database."""

_TABLE = """create table if not exists hf_migration (
    number integer not null primary key, name text not null, checksum text not null, applied bigint not null)"""


def check_server(connection: Connection) -> None:
    version = connection.get_server_version()
    if version.major < OLDEST:
        raise StoreMisconfigured(
            f"The server is PostgreSQL {version.major}, Holdfast needs {OLDEST} or newer. Upgrade the server."
        )


async def migrate(connection: Connection, *, check: bool = False) -> MigrationReport:
    known = migrations_of("postgresql")
    applied = await applied_of(connection)
    pending = pending_after(applied, known)
    if check or not pending:
        return report_of(applied, pending)
    async with in_transaction(connection):
        await connection.execute("select pg_advisory_xact_lock($1)", LOCK)
        await connection.execute(_TABLE)
        applied = await applied_of(connection)
        pending = pending_after(applied, known)
        for migration in pending:
            await _apply(connection, migration)
    return report_of(applied, pending, pending)


async def check_schema(connection: Connection) -> None:
    applied = await applied_of(connection)
    newest = max((number for number, _ in applied), default=0)
    check_current(pending_after(applied, migrations_of("postgresql")), newest)


async def applied_of(connection: Connection) -> list[tuple[int, str]]:
    there = await connection.fetch("select to_regclass('hf_migration') is not null")
    if not there[0][0]:
        return []
    rows = await connection.fetch("select number, checksum from hf_migration order by number")
    return [(row[0], row[1]) for row in rows]


async def _apply(connection: Connection, migration: Migration) -> None:
    for statement in migration.statements:
        await connection.execute(statement)
    await connection.execute(
        "insert into hf_migration (number, name, checksum, applied) values ($1, $2, $3, $4)",
        migration.number,
        migration.name,
        migration.checksum,
        micros(datetime.now(UTC)),
    )
    faultpoints.reached("migrate.step")
