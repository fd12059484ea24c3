"""MySQL or MariaDB for tests: a database on a server that already answers, dropped afterwards.

The server is at `HOLDFAST_TEST_MYSQL_URL`, or at the usual local address. Without a server the tests are skipped with the reason
(see `tests.support.services.availability`), because no package ships one.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit, urlunsplit
from uuid import uuid4

from tests.support.services.availability import Needed, ServiceMissing

MYSQL_URL = "HOLDFAST_TEST_MYSQL_URL"
_USUAL = "mysql://root@127.0.0.1:3306"

_NO_SUCH_THREAD = 1094

Rows = list[tuple[object, ...]]


def need_mysql() -> None:
    """At the head of a test module: skip it as a whole, in one line, or fail where the server is required."""
    with Needed("mysql"):
        mysql_server()


@contextmanager
def mysql_database() -> Iterator[str]:
    """The URL of an empty database on a real server. Raises `ServiceMissing`."""
    server = mysql_server()
    name = f"holdfast_test_{uuid4().hex[:12]}"
    execute(server, f"create database {name}")
    try:
        yield urlunsplit(urlsplit(server)._replace(path="/" + name))
    finally:
        execute(server, f"drop database if exists {name}")


def mysql_server() -> str:
    """The URL of a server on which databases can be made."""
    server = os.environ.get(MYSQL_URL) or _USUAL
    try:
        execute(server, "select 1")
    except ModuleNotFoundError as error:
        raise ServiceMissing(f"the driver {error.name} is not installed: pip install 'holdfast[mysql]'") from error
    except Exception as error:
        place = urlsplit(server).netloc.rpartition("@")[2]
        raise ServiceMissing(f"no server answers at {place} ({error.args[-1]}); {MYSQL_URL} names another") from error
    return server


def execute(url: str, *statements: str) -> Rows:
    """Run statements on a connection of their own, outside any loop; the rows of the last one."""
    return asyncio.run(executed(url, *statements))


async def executed(url: str, *statements: str) -> Rows:
    from holdfast.persistence.sql.mysql.session import Session
    from holdfast.persistence.sql.mysql.url import address_of

    session = await Session.connect(address_of(url))
    rows: Rows = []
    try:
        for statement in statements:
            rows = [tuple(row) for row in await session.send(statement)]
        await session.send("commit")
    finally:
        await session.close()
    return rows


async def emptied(url: str) -> None:
    """Delete every row of a store's database: faster than a database for each test. Counters start again."""
    tables = await executed(url, "select table_name from information_schema.tables where table_schema = database()")
    kept = {"hf_migration", "hf_counter", "hf_change"}
    names = sorted({str(row[0]) for row in tables} - kept)
    if names:
        deletes = [f"delete from {name}" for name in names]
        await executed(url, *deletes, "update hf_counter set value = 0")


async def kill_connections(url: str) -> int:
    """End every connection to the database, as an administrator or a failover would; how many there were."""
    found = await executed(
        url, "select id from information_schema.processlist where db = database() and id <> connection_id()"
    )
    killed = 0
    for (number,) in found:
        try:
            await executed(url, f"kill {number}")
            killed += 1
        except Exception as error:  # one that ended by itself meanwhile
            if error.args[0] != _NO_SUCH_THREAD:
                raise
    return killed
