"""A real MySQL or MariaDB server for tests, with a database of its own that is gone afterwards.

    @pytest.fixture(scope="session")
    def mysql_url() -> Iterator[str]:
        with mysql_database() as url:
            yield url

Used is what answers at `HOLDFAST_TEST_MYSQL_URL`, or at the usual local address. Where nothing does, the tests are
skipped with the reason; with `mysql` in `HOLDFAST_REQUIRE_SERVICES` that is a failure.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from uuid import uuid4

import pytest

VARIABLE = "HOLDFAST_TEST_MYSQL_URL"
REQUIRED = "HOLDFAST_REQUIRE_SERVICES"
USUAL = "mysql://root@127.0.0.1:3306"


def mysql_server_url(environment: Mapping[str, str] = os.environ) -> str:
    return environment.get(VARIABLE) or USUAL


def execute(url: str, *statements: str) -> list[tuple[object, ...]]:
    """Run statements on a connection of their own; the rows of the last one."""
    from holdfast.persistence.sql.mysql.session import Session
    from holdfast.persistence.sql.mysql.url import address_of

    async def run() -> list[tuple[object, ...]]:
        session = await Session.connect(address_of(url))
        rows: list[tuple[object, ...]] = []
        try:
            for statement in statements:
                rows = [tuple(row) for row in await session.send(statement)]
            await session.send("commit")
        finally:
            await session.close()
        return rows

    return asyncio.run(run())


@contextmanager
def mysql_database(prefix: str = "holdfast_test") -> Iterator[str]:
    """The address of an empty database; skips the test where there is no server."""
    server = mysql_server_url()
    _answering(server)
    name = f"{prefix}_{os.getpid()}_{uuid4().hex[:8]}"
    execute(server, f"create database `{name}`")
    try:
        yield url_of(server, name)
    finally:
        execute(server, f"drop database if exists `{name}`")


def url_of(server: str, database: str) -> str:
    """The server's address with this database in it."""
    from urllib.parse import urlsplit

    return urlsplit(server)._replace(path="/" + database).geturl()


def _answering(server: str) -> None:
    try:
        from holdfast.persistence.sql.mysql.errors import MysqlError
        from holdfast.persistence.sql.mysql.url import address_of, shown
    except ModuleNotFoundError as error:
        _unavailable(f"the driver {error.name} is not installed (pip install 'holdfast[mysql]')")
    try:
        address = replace(address_of(server), database="")
        execute(server, "select 1")
    except (MysqlError, OSError) as error:
        _unavailable(f"no server answers at {address.place} ({shown(server)}): {error.args[-1]}")


def _unavailable(reason: str) -> None:
    message = f"MySQL: {reason}; set {VARIABLE} to use another"
    if "mysql" in os.environ.get(REQUIRED, "").split(","):
        pytest.fail(f"{message}. {REQUIRED} names mysql, so it must be there.")
    pytest.skip(message)
