"""Errors of MySQL and MariaDB: which are transient, which end the connection, and the remedy that each message names."""

from __future__ import annotations

import pytest
from asyncmy.errors import OperationalError, ProgrammingError

from holdfast.errors import SchemaMismatch, StoreError, StoreMisconfigured, StoreUnavailable
from holdfast.persistence.sql.mysql.address import MysqlAddress
from holdfast.persistence.sql.mysql.errors import (
    DEADLOCK,
    DUPLICATE,
    MysqlTransient,
    code_of,
    explained,
    is_lost,
    row_too_large,
)

ADDRESS = MysqlAddress(host="db", port=3307, user="app", password="very-secret", database="orders")


@pytest.mark.parametrize(
    ("error", "transient", "lost"),
    [
        (OperationalError(DEADLOCK, "deadlock"), True, False),
        (OperationalError(1040, "too many connections"), True, False),
        (OperationalError(2013, "lost"), True, True),
        (OperationalError("no number"), True, True),
        (ProgrammingError(1064, "syntax"), False, False),
        (ConnectionResetError(), False, True),
        (ValueError(), False, False),
    ],
)
def test_transient_errors_and_lost_connections(error: Exception, transient: bool, lost: bool) -> None:
    assert MysqlTransient().is_transient(error) is transient
    assert is_lost(error) is lost


def test_the_code_is_the_number_of_the_server() -> None:
    assert code_of(OperationalError(1205, "lock wait")) == 1205
    assert code_of(OperationalError("packet")) is None
    assert code_of(ValueError()) is None


@pytest.mark.parametrize(
    ("code", "kind", "remedy"),
    [
        (1290, StoreUnavailable, "is read-only"),
        (1836, StoreUnavailable, "Use the address of the primary"),
        (1045, StoreMisconfigured, "user 'app'"),
        (1142, StoreMisconfigured, "GRANT ALL ON `orders`"),
        (1049, StoreMisconfigured, "CREATE DATABASE `orders`"),
        (1130, StoreMisconfigured, "Create the user for this host"),
        (1146, SchemaMismatch, "holdfast migrate"),
        (2003, StoreUnavailable, "db:3307"),
        (1114, StoreUnavailable, "Free some space"),
        (1406, StoreError, "Shorten it"),
        (DEADLOCK, StoreUnavailable, "Try again"),
        (DUPLICATE, StoreError, "Nothing was written"),
        (1064, StoreError, "report it"),
    ],
)
def test_a_message_names_the_remedy_and_no_password(code: int, kind: type[StoreError], remedy: str) -> None:
    found = explained(OperationalError(code, "the server's words"), ADDRESS)

    assert type(found) is kind
    assert remedy in str(found)
    assert "very-secret" not in str(found)


def test_a_row_that_is_too_large_names_the_setting() -> None:
    assert "max_allowed_packet" in str(row_too_large(20_000_000, 16_777_216))
