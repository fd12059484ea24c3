"""Counts come from hf_tally where it has them, and from the instances otherwise."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from holdfast.model.listing import InstanceFilter
from holdfast.persistence.sql.sqlite import SqliteStore
from holdfast.testing.store_rows import commit_of, instance, later


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[SqliteStore]:
    store = SqliteStore(tmp_path / "tally.db")
    await store.open()
    await store.commit(
        [commit_of(instance(f"i{number}", status="running", correlation_id=f"k{number % 2}")) for number in range(4)]
    )
    yield store
    await store.close()


@pytest.mark.parametrize(
    ("filter", "tallied"),
    [
        (InstanceFilter(), True),
        (InstanceFilter(statuses=("running",), system=False), True),
        (InstanceFilter(correlation_ids=("k0",)), False),
        (InstanceFilter(created_from=later(-1)), False),
        (InstanceFilter(search="i"), False),
    ],
)
async def test_filters_on_instances_are_counted_there(
    store: SqliteStore, filter: InstanceFilter, tallied: bool
) -> None:
    statement = next(store._counts("", filter))

    assert ("hf_tally" in statement.sql) is tallied
    assert await store.count("", filter) == (2 if filter.correlation_ids else 4)
