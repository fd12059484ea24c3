"""Branch reader: wakes branches into the instance, and reads their bookmarks without the rest."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from holdfast import Holdfast, gather, wait_for, workflow
from holdfast.errors import StateUnreadable
from holdfast.execution.branches.branch_reader import stored_bookmarks
from holdfast.runtime.commits.large_values import unpack_state
from holdfast.testing.clock import VirtualClock
from tests.support.stored_instance import StoredInstance, all_branches_sleep


@workflow
async def waits(count: int) -> Any:
    return await gather(*[wait_for("go", key=number) for number in range(count)])


@pytest.fixture
def engine() -> Iterator[Holdfast]:
    made = Holdfast(clock=VirtualClock(), entry_points=False)
    yield made
    made.close()


def stored(engine: Holdfast, count: int) -> StoredInstance:
    with all_branches_sleep():
        return StoredInstance(engine, engine.plan(waits), {"count": count})


@pytest.mark.parametrize("count", [1, 3, 300])
def test_bookmarks_are_read_oldest_first(engine: Holdfast, count: int) -> None:
    instance = stored(engine, count)

    found = stored_bookmarks(unpack_state(instance.state, instance.values))

    assert [mark.id for mark in found] == list(instance.twin.bookmarks)


def test_code_that_is_gone_is_found_when_the_branch_wakes(engine: Holdfast) -> None:
    instance = stored(engine, 3)
    live = instance.read()
    assert live.asleep is not None
    gone = live.plan.by_key
    live.plan.by_key = {key: node for key, node in gone.items() if "wait" not in key and "branch" not in key}

    with pytest.raises(StateUnreadable):
        live.bookmarks["b2"]
    live.plan.by_key = gone
