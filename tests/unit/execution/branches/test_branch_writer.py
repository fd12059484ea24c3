"""Branch writer: only a branch that nothing outside refers to sleeps."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from holdfast import Holdfast, activity, gather, workflow
from holdfast.execution.activation import FAULTED, Activation
from holdfast.execution.branches.branch_writer import BranchWriter, is_wide
from holdfast.execution.live import Compensation, LiveInstance
from holdfast.testing.clock import VirtualClock
from tests.support.stored_instance import StoredInstance, all_branches_sleep


@activity
async def charge(order: dict[str, int]) -> None: ...


@workflow
async def charges(count: int) -> None:
    orders = [{"id": number} for number in range(count)]
    await gather(*[charge(order) for order in orders])


@pytest.fixture
def live() -> Iterator[LiveInstance]:
    engine = Holdfast(clock=VirtualClock(), entry_points=False, activities=[charge])
    yield StoredInstance(engine, engine.plan(charges), {"count": 5}).twin
    engine.close()


def branches(live: LiveInstance) -> list[Activation]:
    (owner,) = [item for item in live.root.descendants() if item.kids and len(item.kids) == 5]
    assert owner.kids
    return list(owner.kids.values())


def restless(live: LiveInstance) -> list[int]:
    """Positions of the branches that stay awake."""
    with all_branches_sleep():
        kids = branches(live)
        awake = BranchWriter(live, trusting=False).pack(kids, ())
    return [kids.index(kid) for kid in awake]


def test_branches_that_wait_sleep(live: LiveInstance) -> None:
    assert restless(live) == []


def test_a_failed_branch_stays_awake(live: LiveInstance) -> None:
    branches(live)[2].status = FAULTED

    assert restless(live) == [2]


def test_a_branch_with_queued_work_stays_awake(live: LiveInstance) -> None:
    kid = branches(live)[1]
    live.queue.append((kid.node, kid, kid.scope))

    assert restless(live) == [1]


def test_a_branch_whose_scope_a_compensation_uses_stays_awake(live: LiveInstance) -> None:
    kid = branches(live)[3]
    (effect,) = (kid.kids or {}).values()
    effect.outer = effect.scope = kid.node.shape.open(kid.scope)  # type: ignore[union-attr]  # a branch has a shape
    live.compensations = (Compensation(1, "undo", kid.node, effect.scope),)

    assert restless(live) == [3]


def test_branches_that_share_a_scope_stay_awake(live: LiveInstance) -> None:
    first, second = branches(live)[:2]
    shared = first.node.shape.open(live.root.scope)  # type: ignore[union-attr]  # a branch has a shape
    for kid in (first, second):
        shared[0] = kid.owner.scope  # type: ignore[union-attr]  # a kid has an owner
        for item in (kid.kids or {}).values():
            item.outer = item.scope = shared

    assert restless(live) == [0, 1]


def test_a_branch_with_changed_arguments_stays_awake(live: LiveInstance) -> None:
    scope = branches(live)[4].outer
    scope[scope[1].names["order"]] = {"id": 4}  # equal, but another object (rule M17)

    assert restless(live) == [4]


def test_only_many_kids_are_wide() -> None:
    kids = dict.fromkeys(range(200))

    assert is_wide(kids)  # type: ignore[arg-type]  # only their number counts
    del kids[0]
    assert not is_wide(kids)  # type: ignore[arg-type]  # only their number counts
