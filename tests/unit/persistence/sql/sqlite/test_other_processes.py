"""Other processes on a SQLite file, found in the node table."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from datetime import timedelta

import pytest

from holdfast.persistence.sql.sqlite.other_processes import OtherProcesses
from holdfast.persistence.sql.tables import micros
from holdfast.testing.store_rows import AT

MINUTE = 60_000_000


@pytest.fixture
def connection() -> Iterator[sqlite3.Connection]:
    made = sqlite3.connect(":memory:")
    made.execute("create table hf_node (boot integer, state text, heartbeat integer, time_to_live integer)")
    yield made
    made.close()


def neighbours(connection: sqlite3.Connection, *rows: tuple[int, str, int]) -> OtherProcesses:
    for boot, state, heartbeat in rows:
        connection.execute("insert into hf_node values (?, ?, ?, ?)", (boot, state, heartbeat, MINUTE))
    return OtherProcesses(connection, lambda: AT)


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([], False),
        ([(1, "running", micros(AT))], False),
        ([(1, "running", micros(AT)), (2, "running", micros(AT))], True),
        ([(2, "left", micros(AT))], False),
        ([(2, "running", micros(AT - timedelta(minutes=2)))], False),
    ],
)
def test_only_a_live_node_of_another_process_counts(
    connection: sqlite3.Connection, rows: list[tuple[int, str, int]], expected: bool
) -> None:
    found = neighbours(connection, *rows)
    found.own.add(1)

    assert found.any() is expected


def test_a_table_that_cannot_be_read_is_used_by_another_process(connection: sqlite3.Connection) -> None:
    connection.execute("drop table hf_node")

    assert neighbours(connection).any()
