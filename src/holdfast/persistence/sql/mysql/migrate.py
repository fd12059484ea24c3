"""Migrations of a MySQL database, under a lock of the server, one statement at a time.

CREATE and ALTER commit implicitly in MySQL, so a migration cannot be rolled back. Instead each statement is counted as a
step once it is done, and a migration continues after the last counted step when it crashed. The one statement that may be
done but not counted is recognized by the server's "already exists" error.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from hashlib import blake2b

from holdfast.errors import SchemaMismatch, StoreUnavailable
from holdfast.model.upkeep import MigrationReport
from holdfast.persistence import faultpoints
from holdfast.persistence.sql.migrations import Migration, check_current, migrations_of, pending_after, report_of
from holdfast.persistence.sql.mysql.errors import EXISTS_ALREADY, NO_SUCH_TABLE, MysqlError, code_of
from holdfast.persistence.sql.mysql.session import Session
from holdfast.persistence.sql.tables import micros

_TABLE = """create table if not exists hf_migration (
    number int not null, name varbinary(255) not null, checksum varbinary(64) not null, steps int not null,
    applied bigint,
    primary key (number)
) engine = InnoDB row_format = dynamic"""

_LOCK_TIMEOUT = timedelta(minutes=5)
"""Time to wait for another node's migration."""

Applied = list[tuple[int, str]]


async def migrate(session: Session, database: str, *, check: bool = False) -> MigrationReport:
    known = migrations_of("mysql")
    applied = await _applied(session)
    pending = pending_after(applied, known)
    if check or not pending:
        return report_of(applied, pending)
    lock = _lock_of(database)
    await _take(session, lock)
    try:
        await session.send(_TABLE)
        applied = await _applied(session)
        pending = pending_after(applied, known)
        for migration in pending:
            await _apply(session, migration)
    finally:
        if session.usable:
            await session.send(f"select release_lock('{lock}')")
    return report_of(applied, pending, pending)


async def check_schema(session: Session) -> None:
    applied = await _applied(session)
    check_current(pending_after(applied, migrations_of("mysql")), max((number for number, _ in applied), default=0))


async def _applied(session: Session) -> Applied:
    try:
        rows = await session.execute(
            "select number, checksum from hf_migration where applied is not null order by number"
        )
    except MysqlError as error:
        if code_of(error) != NO_SUCH_TABLE:
            raise
        return []
    finally:
        await session.rollback()  # The next read needs a new snapshot.
    return [(number, checksum) for number, checksum in rows]


def _lock_of(database: str) -> str:
    """The lock name of a database. Locks are global to the server, and their names are short."""
    return f"holdfast:migrate:{blake2b(database.encode(), digest_size=12).hexdigest()}"


async def _take(session: Session, lock: str) -> None:
    rows = await session.send(f"select get_lock('{lock}', {_LOCK_TIMEOUT.total_seconds():.0f})")
    if rows[0][0] != 1:
        raise StoreUnavailable(
            f"Another node has been migrating the database for {_LOCK_TIMEOUT.total_seconds():.0f} seconds. Wait until it is "
            "done. If it hangs, kill its connection on the server."
        )


async def _apply(session: Session, migration: Migration) -> None:
    begun = await session.execute("select checksum, steps from hf_migration where number = ?", migration.number)
    if begun and begun[0][0] != migration.checksum:
        raise SchemaMismatch(
            f"Migration {migration.label} was interrupted, and has other content in this version. "
            "Finish it with the version of Holdfast that started it, or use a new database."
        )
    if not begun:
        await session.execute(
            "insert into hf_migration (number, name, checksum, steps, applied) values (?, ?, ?, 0, null)",
            migration.number,
            migration.name,
            migration.checksum,
        )
        await session.send("commit")
    done = int(begun[0][1]) if begun else 0
    for step, statement in enumerate(migration.statements[done:], start=done + 1):
        await _step(session, statement, may_be_done=bool(begun) and step == done + 1)
        faultpoints.reached("migrate.step")
        await session.execute("update hf_migration set steps = ? where number = ?", step, migration.number)
        await session.send("commit")
    await session.execute(
        "update hf_migration set applied = ? where number = ?", micros(datetime.now(UTC)), migration.number
    )
    await session.send("commit")


async def _step(session: Session, statement: str, *, may_be_done: bool) -> None:
    """Run one statement. A schema change may have been done before without being counted; changes of rows are counted in
    their own transaction."""
    try:
        await session.send(statement.rstrip(";"))
    except MysqlError as error:
        if not may_be_done or code_of(error) not in EXISTS_ALREADY:
            raise
