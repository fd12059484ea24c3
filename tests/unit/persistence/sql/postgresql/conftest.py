"""Fixtures: a PostgreSQL database per module, and `admin`, a session on an empty schema."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from holdfast.persistence.sql.postgresql.connection import Connection


@pytest.fixture(scope="module")
def database(postgres: str) -> str:
    return postgres


@pytest.fixture
async def admin(database: str) -> AsyncIterator[Connection]:
    """A separate session on an empty schema."""
    from holdfast.persistence.sql.postgresql.connection import ORDINARY, connect
    from holdfast.persistence.sql.postgresql.pool import end

    connection = await connect(database, ORDINARY)
    await connection.execute("drop schema public cascade; create schema public")
    yield connection
    await end(connection)
