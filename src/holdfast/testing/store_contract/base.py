"""Shared parts of the store contract: the fixtures that an adapter provides, and helper steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from holdfast.model.commit import Commit, CommitOutcome, Committed, Conflict
from holdfast.model.stored import InstanceKey, InstanceRow
from holdfast.ports import Store


class ContractBase:
    @pytest.fixture
    def store(self) -> Store:
        """An open, empty store."""
        raise NotImplementedError("provide the fixture `store`: an open store on an empty database")

    @pytest.fixture
    def another(self, store: Store) -> Store:
        """A second store on the same database. Default: the same store."""
        return store

    @pytest.fixture(params=["", "acme"], ids=["default tenant", "tenant acme"])
    def tenant(self, request: pytest.FixtureRequest) -> str:
        return str(request.param)

    async def rows_left(self, store: Store, tenant: str, instance_id: str) -> Mapping[str, int]:
        """Number of rows of the instance in each table, without keys. Override it to query the tables."""
        return {
            "instances": len((await store.load([InstanceKey(tenant, instance_id)])).instances),
            "bookmarks": len(await store.bookmarks_of(tenant, instance_id)),
            "journal": len(await store.read_journal(tenant, instance_id)),
            "effects": len(await store.effects_of(tenant, instance_id)),
            "inbox": len(await store.inbox_of(tenant, instance_id)),
            "incidents": len(await store.list_incidents(tenant, instance_id=instance_id, only_open=False)),
        }


async def stored(store: Store, tenant: str, instance_id: str) -> InstanceRow | None:
    key = InstanceKey(tenant, instance_id)
    return (await store.load([key])).instances.get(key)


async def committed(store: Store, *batch: Commit) -> None:
    """Commit; all commits must succeed."""
    outcomes = await store.commit(batch)
    assert all(isinstance(outcome, Committed) for outcome in outcomes), outcomes


async def loss_of(store: Store, commit: Commit) -> Conflict:
    """Commit; it must lose."""
    return lost_among(await store.commit([commit]))


def lost_among(outcomes: Sequence[CommitOutcome]) -> Conflict:
    """The only losing outcome."""
    losers = [outcome for outcome in outcomes if isinstance(outcome, Conflict)]
    assert len(losers) == 1, outcomes
    return losers[0]
