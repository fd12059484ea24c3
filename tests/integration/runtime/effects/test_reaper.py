"""Effects that are held after a crash: they wait for somebody's word, and that word is an operators' verb."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from holdfast import OnLost, Status, Workflow, activity
from holdfast.activities import Event, Sequence
from holdfast.errors import EffectHeld, InstanceNotFound
from holdfast.model.instance import JournalEvent
from tests.support.node import node_of
from tests.support.probe import probe


@activity
async def pay(amount: int) -> str:
    probe.calls.append(amount)
    probe.begun.set()
    if len(probe.calls) == 1:  # The first attempt is the one that hangs.
        await probe.gate.wait()
    return f"paid {len(probe.calls)}"


def paying(**options: Any) -> Workflow:
    held = pay.bind(5, result="said", on_lost=OnLost.HOLD, **options)
    return Workflow(Sequence(held, Event("go")), id="paying", variables={"said": ""})


async def lost(cluster: Any) -> tuple[Any, Any, str]:
    """The node that died, one that lives, and the instance."""
    a, b = await cluster.node("a"), await cluster.node("b", activities=[pay])
    identity = (await a.start(paying())).result.instance_id
    await probe.begun.wait()
    await cluster.died(a)
    return a, b, str(identity)


async def test_a_lost_effect_is_held_until_somebody_says_so(cluster: Any) -> None:
    _, b, identity = await lost(cluster)
    for _ in range(2):
        assert await b.recover(identity) == 0
        held = await b.settle(identity)
        assert [item.type for item in held.incidents] == ["lost"]
        assert f"holdfast instances recover {identity}" in held.incidents[0].message

    assert await b.operators.recover(identity, who="ada", why="the bank has no trace") == 1
    ended = await b.settle(identity)
    assert (ended.variables["said"], ended.status, ended.incidents) == ("paid 2", Status.SUSPENDED, [])
    told = [entry for entry in await b.journal(identity) if entry.event is JournalEvent.OPERATED]
    assert [dict(entry.data) for entry in told] == [{"verb": "recover", "who": "ada", "why": "the bank has no trace"}]
    assert [entry.activity_id for entry in told] == [held.incidents[0].activity_id]
    assert await b.operators.recover(identity, who="ada") == 0
    await cluster.check(b, identity)


async def test_of_two_words_one_counts(cluster: Any) -> None:
    _, b, identity = await lost(cluster)
    c = await cluster.node("c", activities=[pay])
    answers = await asyncio.gather(*(node.operators.recover(identity, who="ada") for node in (b, c)))
    assert sum(answers) == 1
    await asyncio.gather(b.settle(identity), c.settle(identity))
    assert probe.calls == [5, 5]
    told = [entry for entry in await b.journal(identity) if entry.event is JournalEvent.OPERATED]
    assert len(told) == 1
    await cluster.check(b, identity)


async def test_one_that_is_lost_again_is_held_again(cluster: Any) -> None:
    _, b, identity = await lost(cluster)
    assert await b.recover(identity) == 0
    assert [item.attempt for item in (await b.settle(identity)).incidents] == [1]
    probe.calls.clear()  # The next attempt hangs too.
    probe.begun.clear()
    assert await b.operators.recover(identity, who="ada") == 1
    await probe.begun.wait()
    await cluster.died(b)

    c = await cluster.node("c", activities=[pay])
    assert await c.recover(identity) == 0
    assert [item.attempt for item in (await c.settle(identity)).incidents] == [2]
    assert await c.operators.recover(identity, who="ada") == 1
    assert (await c.settle(identity)).variables["said"] == "paid 2"
    await cluster.check(c, identity)


async def test_a_retry_of_one_that_is_held_names_the_remedy(cluster: Any) -> None:
    _, b, identity = await lost(cluster)
    for _ in range(2):  # Before somebody wrote the incident, and after.
        with pytest.raises(EffectHeld, match=f"holdfast instances recover {identity}"):
            await b.operators.retry(identity, who="ada")
        assert await b.recover(identity) == 0
        await b.settle(identity)
    assert probe.calls == [5]


async def test_one_that_comes_back_after_all_is_held_no_more(cluster: Any) -> None:
    a, b, identity = await lost(cluster)
    await node_of(a).cancel_watch.stop()  # It does not learn that it is dead.
    assert await b.recover(identity) == 0
    assert len((await b.settle(identity)).incidents) == 1
    probe.gate.set()
    ended = await a.settle(identity)
    assert (ended.variables["said"], ended.incidents) == ("paid 1", [])
    assert await b.operators.recover(identity, who="ada") == 0
    await cluster.check(b, identity)


async def test_one_that_waits_for_a_worker_is_not_held(cluster: Any) -> None:
    a = await cluster.node("a")
    identity = (await a.start(paying(queue="elsewhere"))).result.instance_id
    assert await a.operators.recover(identity, who="ada") == 0
    with pytest.raises(InstanceNotFound):
        await a.operators.recover("none", who="ada")
