"""Connections of a process, divided among the purposes of a store."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from holdfast.errors import StoreMisconfigured
from holdfast.persistence.sql.connection_shares import connection_shares

DEFAULTS = {"readers": 4, "writers": 2, "claims": 8}


def test_without_a_total_the_defaults_hold() -> None:
    assert connection_shares(None, DEFAULTS, single=2, store="PostgreSQL") == DEFAULTS


def test_the_default_total_is_divided_as_the_defaults() -> None:
    assert connection_shares(16, DEFAULTS, single=2, store="PostgreSQL") == DEFAULTS


@given(st.integers(min_value=5, max_value=200))
def test_each_purpose_has_a_connection_and_the_total_is_used(total: int) -> None:
    shares = connection_shares(total, DEFAULTS, single=2, store="PostgreSQL")

    assert sum(shares.values()) + 2 == total
    assert min(shares.values()) >= 1


def test_too_few_connections_are_refused_with_the_least_number() -> None:
    with pytest.raises(StoreMisconfigured, match=r"store_connections=4 is too few for PostgreSQL.* at least 5.* 16"):
        connection_shares(4, DEFAULTS, single=2, store="PostgreSQL")
