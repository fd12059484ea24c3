"""Instances in hand: holds are counted, claims hold their instances, and the last release wakes the callers that wait."""

from __future__ import annotations

import asyncio

from holdfast.model.stored import InstanceKey
from holdfast.runtime.commits.in_hand import InstancesInHand

I, J = InstanceKey("", "i"), InstanceKey("", "j")


def test_an_instance_is_in_hand_until_every_hold_is_released() -> None:
    in_hand = InstancesInHand()
    in_hand.hold(I)
    in_hand.hold(I)
    in_hand.release(I)
    assert (in_hand.has(I), in_hand.has(J), bool(in_hand)) == (True, False, True)

    in_hand.release(I)
    assert (in_hand.has(I), bool(in_hand)) == (False, False)


def test_included_components_count_but_are_not_holds() -> None:
    in_hand, queued, running = InstancesInHand(), {I}, {J}
    in_hand.include(queued.__contains__)
    in_hand.include(running.__contains__)

    assert (in_hand.has(I), in_hand.has(J), bool(in_hand)) == (True, True, False)
    queued.clear()
    assert not in_hand.has(I)


def test_a_claim_holds_its_instances_until_it_ends() -> None:
    in_hand = InstancesInHand()
    in_hand.claim([I, J])
    assert set(in_hand.claimed) == {I, J}

    in_hand.end_claim([I])
    assert set(in_hand.claimed) == {J}
    assert (in_hand.has(I), in_hand.has(J)) == (False, True)


async def test_a_caller_waits_until_the_last_hold_is_released() -> None:
    in_hand = InstancesInHand()
    in_hand.hold(I)
    in_hand.claim([I])
    waiting = asyncio.create_task(in_hand.watch.rest(I))
    await asyncio.sleep(0)

    in_hand.end_claim([I])
    await asyncio.sleep(0)
    assert not waiting.done()

    in_hand.release(I)
    async with asyncio.timeout(10):
        await waiting
