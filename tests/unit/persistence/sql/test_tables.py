"""Times as microseconds, and the statements of a table."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from holdfast.persistence.codec import PayloadCodec
from holdfast.persistence.sql.tables import Table, common_micros, micros, micros_or_none, moment, moment_or_none

MOMENTS = [
    datetime(1970, 1, 1, tzinfo=UTC),
    datetime(2030, 1, 2, 3, 4, 5, 6, tzinfo=UTC),
    datetime(1905, 5, 5, tzinfo=UTC),
]


@pytest.mark.parametrize("at", MOMENTS)
def test_a_time_survives_the_database_to_the_microsecond(at: datetime) -> None:
    assert moment(micros(at)) == at
    assert common_micros(at) == micros_or_none(at) == micros(at)
    assert moment_or_none(micros(at)) == at


def test_no_time_is_null() -> None:
    assert micros_or_none(None) is None
    assert moment_or_none(None) is None


def test_a_table_writes_and_reads_its_columns_in_one_order() -> None:
    table: Table[tuple[Any, ...]] = Table("t", "a, b", lambda row, _: row, lambda found, _: tuple(found))

    assert table.insert == "insert into t (a, b) values (?, ?)"
    assert table.select == "select a, b from t"
    assert table.rows([[1, 2], [3, 4]], PayloadCodec()) == [(1, 2), (3, 4)]
