"""Readiness of several nodes of a process on one store."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from holdfast.model.cluster import NodeState
from holdfast.persistence.memory import MemoryStore
from holdfast.runtime.liveness import Liveness
from holdfast.runtime.membership import Membership
from holdfast.runtime.observability import readiness
from holdfast.runtime.observability.readiness import why_unready

LEASE = timedelta(seconds=30)


async def member(store: MemoryStore, name: str) -> tuple[Membership, Liveness]:
    membership = Membership(name)
    membership.join(await store.register_node(name, time_to_live=LEASE), lambda: 0)
    return membership, Liveness(LEASE)


async def test_registered_nodes_are_ready() -> None:
    store = MemoryStore()

    assert await why_unready(store, [await member(store, "a"), await member(store, "b")]) == []


async def test_a_node_that_left_or_never_joined_is_not_ready() -> None:
    store = MemoryStore()
    left = await member(store, "a")
    await store.leave(left[0].owner)

    assert await why_unready(store, [left]) == ["This node is not registered, or its heartbeat is too old."]
    assert len(await why_unready(store, [(Membership("never"), Liveness(LEASE))])) == 1


async def test_equal_reasons_are_named_once() -> None:
    store = MemoryStore()
    members = [await member(store, "a"), await member(store, "b")]
    for _, liveness in members:
        liveness.state = NodeState.DRAINING

    assert await why_unready(store, members) == ["This node is draining: it takes no new work."]


async def test_a_silent_store_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    store = MemoryStore()
    node = await member(store, "a")
    monkeypatch.setattr(readiness, "STORE_TIMEOUT", timedelta(milliseconds=1))

    async def silent() -> None:
        await asyncio.Event().wait()

    monkeypatch.setattr(store, "list_nodes", silent)

    assert await why_unready(store, [node]) == ["The store has not answered for 0 s."]
