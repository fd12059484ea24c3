"""Effects: recorded first, run beside each other, owned by a node in one of its lives, applied once."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest
from msgspec import msgpack

from holdfast import Activity, OnLost, Status, Workflow, activity, expr
from holdfast.activities import Event, Parallel, ParallelForEach, Sequence, SetVariable
from holdfast.execution.activation import Activation
from holdfast.execution.builder import NodeBuilder
from holdfast.execution.live import LiveInstance
from holdfast.execution.plan import Op
from holdfast.execution.record import NewBookmark
from holdfast.management.doctor.instance import why_it_waits
from holdfast.management.instances.alterations import Alterations
from holdfast.management.instances.operators import Operators
from holdfast.model.alterations import Migrate
from holdfast.model.instance import JournalEvent
from holdfast.model.scope import Scope
from holdfast.model.values import TypeRegistry
from holdfast.model.work import WorkKind
from holdfast.runtime.effects import poison, reaper
from tests.support.node import node_of
from tests.support.probe import probe


@activity
async def meet(number: int) -> int:
    async with asyncio.timeout(20):
        await probe.together.wait()
    probe.calls.append(number)
    return number * 2


@activity
async def wait_for_gate(say: str) -> str:
    probe.calls.append(say)
    probe.begun.set()
    if len(probe.calls) == 1:  # The first attempt is the one that hangs.
        try:
            await probe.gate.wait()
        except asyncio.CancelledError:
            probe.canceled.set()
            raise
    return f"{say} {len(probe.calls)}"


@activity
async def wait_elsewhere() -> None:
    """Not every node has it."""
    await probe.gate.wait()


@activity
async def unstorable() -> object:
    return object()


ALL = [meet, wait_for_gate, unstorable]


def waiting(**options: Any) -> Workflow:
    return Workflow(
        Sequence(wait_for_gate.bind(say="hello", result="said", **options), Event("end")), variables={"said": ""}
    )


async def goes_on(runtime: Any, identity: str) -> None:
    """Until it is not faulted any more."""
    async with asyncio.timeout(30):
        while True:
            news = runtime.watch.next_change(runtime.key(identity))  # Subscribe, then look.
            if (await runtime.read(identity)).status is not Status.FAULTED:
                return
            await news


async def test_effects_run_beside_each_other(cluster: Any) -> None:
    a = await cluster.node("a")
    workflow = Workflow(
        Sequence(
            ParallelForEach([1, 2, 3, 4, 5], body=meet.bind(number=expr("item"), result="got"), item="item"),
            Event("end"),
        ),
        variables={"got": 0},
    )
    answer = await a.start(workflow)
    settled = await a.settle(answer.result.instance_id)
    assert settled.status is Status.SUSPENDED
    assert sorted(probe.calls) == [1, 2, 3, 4, 5]
    assert settled.commits <= 7  # What comes back together is committed together.
    await cluster.check(a, settled.instance_id)
    events = [entry.event for entry in await a.journal(settled.instance_id)]
    assert events.count(JournalEvent.EFFECT_RECORDED) == events.count(JournalEvent.EFFECT_RESULT) == 5


async def test_a_stimulus_passes_a_running_effect(cluster: Any) -> None:
    a, b = await cluster.node("a"), await cluster.node("b", activities=ALL)
    workflow = Workflow(
        Parallel(Sequence(Event("other"), SetVariable("other", True)), wait_for_gate.bind(say="x", result="said")),
        variables={"said": "", "other": False},
    )
    identity = (await a.start(workflow)).result.instance_id
    await probe.begun.wait()
    moved = await b.resume(identity)
    assert moved.variables["other"] is True
    probe.gate.set()
    ended = await a.settle(identity)
    assert ended.status is Status.FINISHED
    assert ended.variables == {"said": "x 1", "other": True}
    await cluster.check(b, identity)


async def test_a_dead_nodes_result_is_dropped(cluster: Any) -> None:
    a, b = await cluster.node("a"), await cluster.node("b", activities=ALL)
    await node_of(a).cancel_watch.stop()  # It does not learn that it is dead.
    identity = (await a.start(waiting())).result.instance_id
    await probe.begun.wait()
    assert await b.recover(identity) == 0  # It lives.
    await cluster.died(a)

    assert await b.recover(identity) == 1
    taken = await b.settle(identity)
    assert taken.variables["said"] == "hello 2"
    assert taken.status is Status.SUSPENDED

    probe.gate.set()  # The one that hung ends after all.
    late = await a.settle(identity)
    assert late.variables["said"] == "hello 2"
    dropped = [entry for entry in await b.journal(identity) if entry.event is JournalEvent.RESULT_DROPPED]
    assert [entry.data["attempt"] for entry in dropped] == [1]
    results = [entry for entry in await b.journal(identity) if entry.event is JournalEvent.EFFECT_RESULT]
    assert [entry.data["attempt"] for entry in results] == [2]
    await cluster.check(b, identity)


async def test_of_two_who_take_over_one_does(cluster: Any) -> None:
    a = await cluster.node("a")
    b, c = await cluster.node("b", activities=ALL), await cluster.node("c", activities=ALL)
    identity = (await a.start(waiting())).result.instance_id
    await probe.begun.wait()
    await cluster.died(a)
    taken = await asyncio.gather(b.recover(identity), c.recover(identity), node_of(b).components.reaper.sweep())
    assert sum(taken) == 1
    await asyncio.gather(b.settle(identity), c.settle(identity))
    assert (await b.read(identity)).variables["said"] == "hello 2"
    await cluster.check(b, identity)


async def test_a_lost_effect_fails_if_it_says_so(cluster: Any) -> None:
    a, b = await cluster.node("a"), await cluster.node("b", activities=ALL)
    identity = (await a.start(waiting(on_lost=OnLost.FAIL))).result.instance_id
    await probe.begun.wait()
    await cluster.died(a)
    assert await b.recover(identity) == 1
    failed = await b.settle(identity)
    assert failed.status is Status.FAULTED
    assert failed.incidents[0].type == "EffectLost"
    retried = await b.retry(identity)
    assert retried.status is Status.RUNNING
    assert (await b.settle(identity)).variables["said"] == "hello 2"
    await cluster.check(b, identity)


async def test_those_that_are_held_do_not_keep_others_from_being_taken_over(
    cluster: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reaper, "PAGE", 2)
    a, b = await cluster.node("a"), await cluster.node("b", activities=[wait_elsewhere])
    hold = Workflow(wait_elsewhere.bind(on_lost=OnLost.HOLD), id="hold")
    held = [(await a.start(hold)).result.instance_id for _ in range(5)]
    last = (await a.start(Workflow(wait_elsewhere.bind(), id="go"))).result.instance_id
    await cluster.died(a)

    taken = [await node_of(b).components.reaper.sweep() for _ in range(4)]

    assert sum(taken) == 1
    assert node_of(b).components.running.of_instance(b.key(last))
    for name in held:
        assert [item.type for item in (await b.settle(name)).incidents] == ["lost"]


async def test_one_sweep_takes_over_all_that_a_node_left(cluster: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reaper, "PAGE", 2)
    a, b = await cluster.node("a"), await cluster.node("b", activities=[wait_elsewhere])
    left = [(await a.start(Workflow(wait_elsewhere.bind(), id="go"))).result.instance_id for _ in range(7)]
    await cluster.died(a)

    assert await node_of(b).components.reaper.sweep() == 7
    assert all(node_of(b).components.running.of_instance(b.key(name)) for name in left)


async def test_what_was_lost_before_is_taken_over_alone(cluster: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reaper, "HEAD_START_SECONDS", 60.0)
    a, b, c = [await cluster.node(name, activities=[wait_elsewhere]) for name in "abc"]
    lost = [(await a.start(Workflow(wait_elsewhere.bind(), id="go"))).result.instance_id for _ in range(3)]
    await cluster.died(a)
    assert await node_of(b).components.reaper.sweep() == 3
    await cluster.died(b)

    sweeping = asyncio.create_task(node_of(c).components.reaper.sweep())
    seen, store = 0, c.store
    async with asyncio.timeout(30):
        while not any(node_of(c).components.running.of_instance(c.key(name)) for name in lost):
            seen = await store.wait_for_change(seen, timedelta(milliseconds=20))
    held = [
        sum(row.owner == c.membership.owner for row in await c.store.effects_of(cluster.tenant, name)) for name in lost
    ]
    probe.gate.set()

    assert sum(held) == 1
    assert await sweeping  # The others had ended where they were, or were taken over, too.
    for name in lost:
        assert (await c.settle(name)).status is Status.FINISHED


async def test_only_one_that_is_lost_alone_is_buried(cluster: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two share each process that dies, and nobody knows which of them it is."""
    monkeypatch.setattr(reaper, "HEAD_START_SECONDS", 0.0)
    monkeypatch.setattr(reaper, "ISOLATION_SECONDS", 0.0)
    last = await cluster.node("a", activities=[wait_elsewhere])
    two = [(await last.start(Workflow(wait_elsewhere.bind(), id="go"))).result.instance_id for _ in range(2)]
    for name in "bcd":
        await cluster.died(last)
        last = await cluster.node(name, activities=[wait_elsewhere])
        assert await node_of(last).components.reaper.sweep() == 2

    await cluster.died(last)
    alone = await cluster.node("e", activities=[wait_elsewhere])
    assert await node_of(alone).components.reaper.sweep() == 1
    assert await node_of(alone).components.reaper.sweep() == 0  # The other waits until this one has ended.
    (killer,) = [name for name in two if node_of(alone).components.running.of_instance(alone.key(name))]
    (innocent,) = [name for name in two if name != killer]
    assert not await Operators(alone).dead_letters()

    await cluster.died(alone)
    last = await cluster.node("f", activities=[wait_elsewhere])
    assert await node_of(last).components.reaper.sweep() == 2
    probe.gate.set()
    assert (await last.settle(innocent)).status is Status.FINISHED
    assert [item.type for item in (await last.settle(killer)).incidents] == ["EffectLost"]
    assert [item.work.instance_id for item in await Operators(last).dead_letters()] == [killer]
    await cluster.check(last, killer)


async def test_where_others_run_long_a_trial_waits_and_is_given_up_in_the_end(
    cluster: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(poison, "LOST_MAX", 1)
    monkeypatch.setattr(reaper, "IDLE_WAIT_SECONDS", 0.0)
    monkeypatch.setattr(reaper, "ISOLATION_SECONDS", 0.0)
    a, c, b = [await cluster.node(name, activities=[*ALL, wait_elsewhere]) for name in "acb"]
    lost = (await a.start(Workflow(wait_elsewhere.bind(), id="go"))).result.instance_id
    await cluster.died(a)
    assert await node_of(c).components.reaper.sweep() == 1
    await cluster.died(c)
    beside = (await b.start(waiting())).result.instance_id
    await probe.begun.wait()

    assert await node_of(b).components.reaper.sweep() == 0
    monkeypatch.setattr(reaper, "ISOLATION_WAIT_MAX", timedelta(0))
    assert await node_of(b).components.reaper.sweep() == 1
    assert node_of(b).components.running.of_instance(b.key(lost))
    assert node_of(b).components.running.of_instance(b.key(beside))


async def test_one_whose_code_is_not_here_does_not_keep_others_from_being_taken_over(cluster: Any) -> None:
    a, b = await cluster.node("a"), await cluster.node("b", activities=ALL)
    strange = Workflow(Sequence(wait_elsewhere.bind(), Event("end")))
    first = (await a.start(strange)).result.instance_id
    second = (await a.start(waiting())).result.instance_id
    assert first < second
    await probe.begun.wait()
    await cluster.died(a)

    assert await node_of(b).components.reaper.sweep() == 1
    assert (await b.settle(second)).status is Status.SUSPENDED


def moving() -> tuple[Workflow, Workflow]:
    """Two versions that call their activity `old` and `new`."""
    one, two = (Sequence(wait_for_gate.bind(say="hello", id=name)) for name in ("old", "new"))
    return Workflow(one, id="moving", version=1), Workflow(two, id="moving", version=2)


async def test_the_letter_of_an_effect_names_it_as_it_is_called_now(
    cluster: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(poison, "LOST_MAX", 0)
    a = await cluster.node("a")
    old, new = moving()
    identity = (await a.start(old)).result.instance_id
    await probe.begun.wait()
    await a.plans.pin(a.plan_of(new))
    await Alterations(a).alter(identity, [Migrate(version=2, mapping={"old": "new"})], who="ann")
    assert any("'new' (attempt 1" in finding.message for finding in await why_it_waits(a, identity))
    await cluster.died(a)
    b = await cluster.node("b", activities=ALL)

    assert await b.recover(identity) == 1
    failed = await b.settle(identity)

    (letter,) = await Operators(b).dead_letters()
    assert msgpack.decode(letter.work.payload)["activity"] == "new"
    assert "'new' has ended its process" in failed.incidents[0].message


async def test_the_letter_of_an_effect_is_for_it_also_when_it_is_called_otherwise_by_now(
    cluster: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(poison, "LOST_MAX", 0)
    a = await cluster.node("a")
    old, new = moving()
    identity = (await a.start(old)).result.instance_id
    await probe.begun.wait()
    await cluster.died(a)
    b = await cluster.node("b", activities=ALL)
    await b.recover(identity)
    assert (await b.settle(identity)).status is Status.FAULTED
    await b.plans.pin(b.plan_of(new))
    await Alterations(b).alter(identity, [Migrate(version=2, mapping={"old": "new"})], who="ann")
    (letter,) = await Operators(b).dead_letters()

    node_of(b).take_work()
    assert await Operators(b).replay([letter.work.id], who="ann") == 1
    await goes_on(b, identity)

    assert (await b.settle(identity)).status is Status.FINISHED
    await cluster.check(b, identity)


async def test_an_effect_that_ends_its_process_fails_in_the_end(cluster: Any) -> None:
    a = await cluster.node("a")
    identity = (await a.start(waiting())).result.instance_id
    await probe.begun.wait()
    await cluster.died(a)
    last = a
    for number in range(5):
        probe.calls.clear()
        probe.begun.clear()
        last = await cluster.node(f"n{number}", activities=ALL)
        assert await last.recover(identity) == 1
        if number < 4:
            await probe.begun.wait()
            await cluster.died(last)
    failed = await last.settle(identity)
    assert failed.status is Status.FAULTED
    assert [item.type for item in failed.incidents] == ["EffectLost"]
    (letter,) = await Operators(last).dead_letters()
    assert (letter.reason, letter.work.kind, letter.work.instance_id) == ("process-died", WorkKind.RETRY, identity)
    await cluster.check(last, identity)

    # Mended: the letter is replayed, and the instance goes on with the same execution. The first call hangs.
    probe.calls[:] = ["mended"]
    node_of(last).take_work()
    assert await Operators(last).replay([letter.work.id], who="ann") == 1
    assert (await last.read(identity)).status is not Status.FAULTED  # A handle would raise the old fault.
    replayed = await last.settle(identity)
    assert (replayed.status, replayed.variables["said"]) == (Status.SUSPENDED, "hello 2")
    assert not replayed.incidents
    assert not await Operators(last).dead_letters()
    await cluster.check(last, identity)


@pytest.mark.parametrize("terminate", [False, True])
async def test_a_cancel_elsewhere_ends_the_effect_here_without_a_heartbeat(cluster: Any, terminate: bool) -> None:
    a, b = await cluster.node("a"), await cluster.node("b", activities=ALL)  # Hearts beat every 100 seconds.
    identity = (await a.start(waiting())).result.instance_id
    await probe.begun.wait()
    await Operators(b).cancel(identity, terminate=terminate, who="ann")
    async with asyncio.timeout(30):
        await probe.canceled.wait()
    assert (await a.settle(identity)).status is Status.CANCELED
    await cluster.check(b, identity)


async def test_a_heartbeat_ends_what_was_canceled_elsewhere(cluster: Any) -> None:
    a, b = await cluster.node("a"), await cluster.node("b", activities=ALL)
    await node_of(a).cancel_watch.stop()
    identity = (await a.start(waiting())).result.instance_id
    await probe.begun.wait()
    assert (await b.cancel(identity)).status is Status.CANCELING
    await node_of(a).heartbeat.beat()
    await probe.canceled.wait()
    assert (await a.settle(identity)).status is Status.CANCELED
    await cluster.check(b, identity)


async def test_an_attempt_that_began_after_the_store_was_asked_is_left_alone(cluster: Any) -> None:
    a = await cluster.node("a")
    identity = (await a.start(waiting())).result.instance_id
    await probe.begun.wait()
    asked = node_of(a).components.running.attempts()
    (row,) = await a.store.effects_of(cluster.tenant, identity)
    later = {key: attempt - 1 for key, attempt in asked.items()}  # As if the one that runs were the next.

    node_of(a).components.running.cancel_lost(later, [])
    assert node_of(a).components.running.attempts() == asked
    node_of(a).components.running.cancel_lost(asked, [row])
    assert node_of(a).components.running.attempts() == asked
    node_of(a).components.running.cancel_lost(asked, [])
    assert not node_of(a).components.running.attempts()


async def test_a_node_that_stops_gives_its_steps_back_to_their_queue(cluster: Any) -> None:
    """With a ticket: no node has to wait until the sweep finds that there is none."""
    a = await cluster.node("a", work=True, queues=("shop",), activities=ALL)
    identity = (await a.start(waiting(queue="shop"))).result.instance_id
    await probe.begun.wait()
    await node_of(a).stop()
    assert probe.canceled.is_set()
    (row,) = await a.store.effects_of(cluster.tenant, identity)
    assert (row.owner.node, row.attempt) == ("", 1)

    b = await cluster.node("b", work=True, queues=("shop",), activities=ALL)
    await node_of(b).components.reaper.stop()
    seen = -1
    while (result := await b.read(identity)).status is not Status.SUSPENDED:
        seen = await b.store.wait_for_change(seen, timedelta(seconds=1))
    assert result.variables["said"] == "hello 2"
    await cluster.check(b, identity)


async def test_a_node_that_stops_gives_its_effects_back(cluster: Any) -> None:
    a, b = await cluster.node("a"), await cluster.node("b", activities=ALL)
    identity = (await a.start(waiting())).result.instance_id
    await probe.begun.wait()
    await node_of(a).stop()
    assert probe.canceled.is_set()
    assert await node_of(b).components.reaper.sweep() == 1
    assert (await b.settle(identity)).variables["said"] == "hello 2"
    await cluster.check(b, identity)


async def test_a_node_whose_heart_stands_still_starts_nothing(cluster: Any) -> None:
    a = await cluster.node("a")
    a.liveness.renewed_at -= a.liveness.time_to_live.total_seconds()
    identity = (await a.start(waiting())).result.instance_id
    assert a.works_on(identity)
    assert not probe.calls
    probe.gate.set()
    await node_of(a).heartbeat.beat()
    assert (await a.settle(identity)).variables["said"] == "hello 1"


async def test_a_later_life_fences_the_earlier_one(cluster: Any) -> None:
    a = await cluster.node("a")
    identity = (await a.start(waiting())).result.instance_id
    await probe.begun.wait()
    await cluster.died(a)
    await node_of(a).heartbeat.beat()
    await probe.canceled.wait()
    assert not a.liveness.may_start_effects
    assert not node_of(a).components.running.of_instance(a.key(identity))


async def test_a_result_that_cannot_be_kept_is_a_fault_of_its_own(cluster: Any) -> None:
    a = await cluster.node("a")
    good = Workflow(Sequence(meet.bind(number=1, result="got"), Event("end")), variables={"got": 0})
    bad = Workflow(Sequence(unstorable.bind(result="got"), Event("end")), variables={"got": None})
    ids = [(await a.start(good)).result.instance_id for _ in range(5)]
    poisoned = (await a.start(bad)).result.instance_id
    assert (await a.settle(poisoned)).status is Status.FAULTED
    for identity in ids:
        assert (await a.settle(identity)).variables["got"] == 2


async def test_an_effect_that_was_taken_over_and_not_begun_is_picked_up(cluster: Any) -> None:
    a, b = await cluster.node("a"), await cluster.node("b", activities=ALL)
    identity = (await a.start(waiting())).result.instance_id
    await probe.begun.wait()
    await cluster.died(a)
    (row,) = await b.store.effects_of(cluster.tenant, identity)
    await b.store.move_effect(cluster.tenant, identity, row.ref, row.ref._replace(attempt=2, owner=b.membership.owner))

    assert await node_of(b).components.reaper.sweep() == 1
    assert (await b.settle(identity)).variables["said"] == "hello 2"
    assert await node_of(b).components.reaper.sweep() == 0
    await cluster.check(b, identity)


class Unwritable(Activity, pure=True):
    """Waits, and leaves behind what no state can hold."""

    @classmethod
    def compile(cls, builder: NodeBuilder) -> Op:
        def op(live: LiveInstance, owner: Activation, scope: Scope) -> None:
            live.bookmark(live.activate(builder.node, owner, scope), NewBookmark(name="never"))

        def dump(data: Any, types: TypeRegistry) -> Any:
            raise LookupError("no state can hold this")

        builder.node.hooks.dump = dump
        return op


async def test_no_effect_begins_of_a_burst_that_cannot_be_written_down(cluster: Any) -> None:
    node = await cluster.node("a", activities=[Unwritable])
    root = Parallel(wait_for_gate.bind(say="too early"), Unwritable())

    with pytest.raises(LookupError, match="no state"):
        await node.start(Workflow(root))

    assert len(node_of(node).components.running) == 0
    assert probe.calls == []
