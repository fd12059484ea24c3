"""Addresses and errors of PostgreSQL: each names its remedy, none shows a password."""

from __future__ import annotations

import socket
import sys
from datetime import timedelta

import asyncpg  # type: ignore[import-untyped]  # the driver brings no types
import pytest

from holdfast.errors import SchemaMismatch, StoreError, StoreMisconfigured, StoreUnavailable
from holdfast.persistence import store_from_url
from holdfast.persistence.retry import RetryPolicy
from holdfast.persistence.sql.postgresql import PostgresStore
from holdfast.persistence.sql.postgresql.connection import PostgresTransient, address, explained, is_poison

URL = "postgresql://ann:s3cret@db.example:5433/shop"
AT_ONCE = RetryPolicy(delay=timedelta(0))


@pytest.mark.parametrize("scheme", ["postgresql", "postgres"])
def test_an_address_becomes_a_store(scheme: str) -> None:
    store = store_from_url(f"{scheme}://ann@db.example/shop?sslmode=require")

    assert isinstance(store, PostgresStore)
    assert store.name == "postgresql"


def test_an_address_may_name_several_hosts() -> None:
    store = store_from_url("postgresql://ann@one:5432,two:5433,three/shop?target_session_attrs=read-write")

    assert isinstance(store, PostgresStore)
    assert address("postgresql://ann:s3cret@one:5432,two:5433/shop") == "one:5432,two:5433/shop"


@pytest.mark.parametrize(
    "url", ["postgresql://one:5432,two:port/shop", "postgresql://one,/shop", "postgresql://a,b:0/shop"]
)
def test_an_invalid_host_among_several_names_the_remedy(url: str) -> None:
    with pytest.raises(StoreMisconfigured, match=r"host1:5432,host2:5432/database\?target_session_attrs=read-write"):
        store_from_url(url)


@pytest.mark.parametrize("url", ["postgresql://db.example", "postgresql://db.example/", "postgresql://host:port/shop"])
def test_an_invalid_address_names_the_remedy(url: str) -> None:
    with pytest.raises(StoreMisconfigured, match=r"postgresql://user(:password)?@host:5432/database"):
        store_from_url(url)


def test_a_missing_driver_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in [name for name in sys.modules if name.startswith("holdfast.persistence.sql.postgresql")]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, "asyncpg", None)

    with pytest.raises(StoreMisconfigured, match=r"pip install 'holdfast\[postgresql\]'"):
        store_from_url("postgresql://db.example/shop")


@pytest.mark.parametrize(
    ("error", "kind", "words"),
    [
        (asyncpg.InvalidPasswordError("x"), StoreMisconfigured, "refuses the user 'ann'. Check name and password"),
        (asyncpg.InvalidAuthorizationSpecificationError("x"), StoreMisconfigured, "refuses the user 'ann'"),
        (asyncpg.InvalidCatalogNameError("x"), StoreMisconfigured, "no database 'shop'. Create it: createdb shop"),
        (asyncpg.InsufficientPrivilegeError("denied"), StoreMisconfigured, "grant usage, create on schema"),
        (asyncpg.UndefinedTableError("x"), SchemaMismatch, "Run: holdfast migrate"),
        (asyncpg.ReadOnlySQLTransactionError("x"), StoreUnavailable, "is read-only"),
        (asyncpg.InvalidSQLStatementNameError("x"), StoreMisconfigured, "pool_mode = session"),
        (asyncpg.DiskFullError("x"), StoreUnavailable, "Free some space"),
        (asyncpg.TooManyConnectionsError("x"), StoreUnavailable, "max_connections"),
        (asyncpg.CannotConnectNowError("starting up"), StoreUnavailable, "Check that it runs"),
        (ConnectionRefusedError("refused"), StoreUnavailable, "Check that it runs"),
        (asyncpg.InterfaceError("connection is closed"), StoreUnavailable, "Check that it runs"),
        (asyncpg.SyntaxOrAccessError("x"), StoreError, "please report it"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else "",
)
def test_errors_name_the_remedy(error: Exception, kind: type[StoreError], words: str) -> None:
    told = explained(error, URL)

    assert type(told) is kind
    assert words in str(told)
    assert "s3cret" not in str(told)


@pytest.mark.parametrize(
    ("error", "transient"),
    [
        (asyncpg.DeadlockDetectedError("x"), True),
        (asyncpg.SerializationError("x"), True),
        (asyncpg.AdminShutdownError("x"), True),
        (asyncpg.ConnectionDoesNotExistError("x"), True),
        (asyncpg.ReadOnlySQLTransactionError("failover"), True),
        (asyncpg.InterfaceError("connection is closed"), True),
        (ConnectionResetError(), True),
        (asyncpg.InterfaceError("wrong number of arguments"), False),
        (asyncpg.DataError("value out of range"), False),
        (asyncpg.UniqueViolationError("x"), False),
        (asyncpg.InsufficientPrivilegeError("x"), False),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else "",
)
def test_transient_errors(error: Exception, transient: bool) -> None:
    assert PostgresTransient().is_transient(error) is transient


@pytest.mark.parametrize(
    ("error", "poison"),
    [
        (asyncpg.UniqueViolationError("x"), True),
        (asyncpg.NumericValueOutOfRangeError("x"), True),
        (asyncpg.exceptions.DataError("client"), True),
        (asyncpg.UndefinedTableError("x"), False),
        (asyncpg.DiskFullError("x"), False),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else "",
)
def test_poison_errors(error: Exception, poison: bool) -> None:
    assert is_poison(error) is poison


async def test_an_unreachable_server_is_unavailable() -> None:
    with socket.socket() as unheard:
        unheard.bind(("127.0.0.1", 0))
        store = PostgresStore(f"postgresql://ann:s3cret@127.0.0.1:{unheard.getsockname()[1]}/shop", retry=AT_ONCE)

        with pytest.raises(StoreUnavailable, match="does not answer") as caught:
            await store.open()

    assert "s3cret" not in str(caught.value)
