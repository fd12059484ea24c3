"""Migrations of a SQLite file: all pending ones in one transaction, under the file's write lock."""

from __future__ import annotations

import sqlite3
from datetime import UTC, datetime

from holdfast.model.upkeep import MigrationReport
from holdfast.persistence import faultpoints
from holdfast.persistence.sql.migrations import Migration, check_current, migrations_of, pending_after, report_of
from holdfast.persistence.sql.sqlite.connection import retry_while_busy
from holdfast.persistence.sql.tables import micros

_TABLE = """create table if not exists hf_migration (
    number integer not null primary key, name text not null, checksum text not null, applied integer not null
) without rowid"""


def migrate(connection: sqlite3.Connection, *, check: bool = False) -> MigrationReport:
    known = migrations_of("sqlite")
    if check or not pending_after(_applied(connection), known):
        applied = _applied(connection)
        return report_of(applied, pending_after(applied, known))
    retry_while_busy(lambda: connection.execute("begin immediate"))
    try:
        connection.execute(_TABLE)
        applied = _applied(connection)
        pending = pending_after(applied, known)
        for migration in pending:
            _apply(connection, migration)
        connection.execute("commit")
    except BaseException:
        if connection.in_transaction:
            connection.execute("rollback")
        raise
    return report_of(applied, pending, pending)


def check_schema(connection: sqlite3.Connection) -> None:
    applied = _applied(connection)
    check_current(pending_after(applied, migrations_of("sqlite")), max((number for number, _ in applied), default=0))


def _applied(connection: sqlite3.Connection) -> list[tuple[int, str]]:
    def read() -> list[tuple[int, str]]:
        if not connection.execute("select 1 from sqlite_master where name = 'hf_migration'").fetchone():
            return []
        return connection.execute("select number, checksum from hf_migration order by number").fetchall()

    return retry_while_busy(read)


def _apply(connection: sqlite3.Connection, migration: Migration) -> None:
    for statement in migration.statements:
        connection.execute(statement)
    connection.execute(
        "insert into hf_migration (number, name, checksum, applied) values (?, ?, ?, ?)",
        (migration.number, migration.name, migration.checksum, micros(datetime.now(UTC))),
    )
    faultpoints.reached("migrate.step")
