"""Operators' verbs: each does its work once, however often it is asked for, and says who wanted it and why."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from holdfast import Status, Workflow, activity, expr
from holdfast.activities import Compensable, Event, Sequence, SetOutput, Try, WriteLine
from holdfast.api import ActivationStrategy
from holdfast.errors import DeletionRefused, ExecutionError, InstanceAtRest, InstanceNotFound
from holdfast.management.instances.operators import Operators
from holdfast.model.commit import Commit
from holdfast.model.instance import JournalEvent
from holdfast.model.listing import InstanceFilter
from holdfast.model.work import DeadLetterRow, WorkKind, WorkRow, queue_of
from tests.support.node import node_of

CALLS: list[tuple[str, str]] = []


@activity
async def charge(card: str, amount: int, context: Any = None) -> str:
    CALLS.append((card, str(amount)))
    if card == "expired":
        raise ValueError("the card is expired")
    return f"{amount} from {card}"


def paying(**options: Any) -> Workflow:
    return Workflow(
        Sequence(charge.bind(expr("card"), 5, result="receipt"), SetOutput("receipt", expr("receipt"))),
        id="paying",
        variables={"receipt": None, "card": "expired"},
        outputs={"receipt": str},
        **options,
    )


async def faulted(runtime: Any, **options: Any) -> str:
    CALLS.clear()
    identity = (await runtime.start(paying(), **options)).result.instance_id
    assert (await runtime.wait_at_rest(identity)).status is Status.FAULTED
    return str(identity)


def acts(entries: Any) -> list[dict[str, Any]]:
    return [dict(entry.data) for entry in entries if entry.event is JournalEvent.OPERATED]


async def test_retry_with_edited_input_is_a_new_execution(cluster: Any) -> None:
    a = await cluster.node("a")
    operators, identity = Operators(a), await faulted(a)
    before = (await a.read(identity)).incidents[0]

    done = await operators.retry(identity, before.activity_id, inputs={"card": "visa"}, who="ann", why="new card")

    assert done.changed
    ended = await a.wait_at_rest(identity)
    assert (ended.status, ended.outputs) == (Status.FINISHED, {"receipt": "5 from visa"})
    assert CALLS == [("expired", "5"), ("visa", "5")]
    entries = await a.journal(identity)
    recorded = [entry for entry in entries if entry.event is JournalEvent.EFFECT_RECORDED]
    assert len({entry.execution_id for entry in recorded}) == 2
    assert recorded[0].execution_id == before.execution_id
    assert acts(entries) == [{"verb": "retry", "who": "ann", "why": "new card", "inputs": ["card"]}]
    assert not (await operators.retry(identity, who="ann")).changed
    await cluster.check(a, identity)


async def test_retry_as_it_was_keeps_the_execution(cluster: Any) -> None:
    a = await cluster.node("a")
    operators, identity = Operators(a), await faulted(a)

    await operators.retry(identity, who="ann")
    await a.settle(identity)

    recorded = [entry for entry in await a.journal(identity) if entry.event is JournalEvent.EFFECT_RECORDED]
    assert len({entry.execution_id for entry in recorded}) == 1
    assert [entry.data["attempt"] for entry in recorded] == [1, 2]
    assert (await a.read(identity)).status is Status.FAULTED


async def test_input_that_does_not_fit_is_refused(cluster: Any) -> None:
    a = await cluster.node("a")
    operators, identity = Operators(a), await faulted(a)

    with pytest.raises(ExecutionError, match="'karte'"):
        await operators.retry(identity, inputs={"karte": "visa"}, who="ann")
    with pytest.raises(ExecutionError, match="integer"):
        await operators.retry(identity, inputs={"amount": "much"}, who="ann")
    assert (await a.read(identity)).status is Status.FAULTED
    assert len(CALLS) == 1


async def test_ten_operators_retry_once(cluster: Any) -> None:
    a, b = await cluster.node("a"), await cluster.node("b", activities=[charge])
    identity = await faulted(a)
    both = (Operators(a), Operators(b))

    done = await asyncio.gather(
        *(both[n % 2].retry(identity, inputs={"card": "visa"}, who=f"o{n}") for n in range(10)), return_exceptions=True
    )
    await a.settle(identity)
    ended = await b.wait_at_rest(identity)

    assert ended.status is Status.FINISHED
    assert [one.changed for one in done].count(True) == 1  # type: ignore[union-attr]
    assert CALLS.count(("visa", "5")) == 1


async def test_skip_goes_on_behind_the_activity(cluster: Any) -> None:
    a = await cluster.node("a")
    operators, identity = Operators(a), await faulted(a)

    with pytest.raises(ExecutionError, match="'nothing'"):
        await operators.skip(identity, "nothing", who="ann")
    done = await operators.skip(identity, "charge1", who="ann", why="paid in cash")

    assert (done.changed, done.status) == (True, "finished")
    assert (await a.read(identity)).outputs == {"receipt": None}
    assert (await a.read(identity)).incidents == []
    assert not (await operators.skip(identity, "charge1", who="ann")).changed
    await cluster.check(a, identity)


async def test_skip_passes_over_what_waits(cluster: Any) -> None:
    a = await cluster.node("a")
    operators = Operators(a)
    root = Sequence(Event("never", id="wait"), SetOutput("out", 1))
    identity = (await a.start(Workflow(root, id="waits", outputs={"out": int}))).result.instance_id

    await operators.skip(identity, "wait", who="ann")

    assert (await a.read(identity)).outputs == {"out": 1}
    await cluster.check(a, identity)


async def test_resume_says_who_did_it(cluster: Any) -> None:
    a = await cluster.node("a")
    operators = Operators(a)
    identity = (await a.start(Workflow(Event("go"), id="waits"))).result.instance_id

    done = await operators.resume(identity, payload=7, who="ann", why="by phone")

    assert done.status == "finished"
    assert acts(await a.journal(identity)) == [{"verb": "resume", "who": "ann", "why": "by phone", "bookmark": "b1"}]
    with pytest.raises(InstanceAtRest):
        await operators.resume(identity, "b1", who="ann")


def saga() -> Workflow:
    undo = Compensable(body=WriteLine("do"), compensation=WriteLine("undo"))
    return Workflow(Try(body=Sequence(undo, Event("never")), finally_=WriteLine("finally")), id="saga")


@pytest.mark.parametrize("terminate", [False, True])
async def test_cancel_cleans_up_and_terminate_does_not(cluster: Any, terminate: bool) -> None:
    a = await cluster.node("a")
    operators, lines = Operators(a), list[str]()
    identity = (await a.start(saga(), on_line=lines.append)).result.instance_id
    lines.clear()

    done = await operators.cancel(identity, terminate=terminate, who="ann", why="enough")

    assert (done.changed, done.status) == (True, "canceled")
    assert lines == ([] if terminate else ["finally", "undo"])
    entries = await a.journal(identity)
    ended = next(entry for entry in entries if entry.event is JournalEvent.INSTANCE_CANCELED)
    cause = "terminated" if terminate else "canceled"
    assert ended.data == {"cause": cause}
    verb = "terminate" if terminate else "cancel"
    assert acts(entries) == [{"verb": verb, "who": "ann", "why": "enough", "cause": cause}]
    again = await operators.cancel(identity, who="ann")
    assert (again.changed, again.version) == (False, done.version)


async def test_bulk_verbs_test_their_filter_again(cluster: Any) -> None:
    """The list is older than the instance: what is no longer asked for is left alone."""
    a = await cluster.node("a")
    operators = Operators(a)
    ids = [
        (await a.start(Workflow(Event("go"), id="waits"), correlation_id=f"c{n}")).result.instance_id for n in range(5)
    ]
    page = operators._pages

    async def late(filter: Any) -> Any:
        async for found in page(filter):
            await a.resume(ids[0])
            yield found

    operators._pages = late  # type: ignore[method-assign]
    done = await operators.cancel_all(InstanceFilter(statuses=("suspended",)), who="ann")

    assert (done.changed, done.unchanged, done.failed) == (4, 1, ())
    assert [(await a.read(identity)).status for identity in ids] == [Status.FINISHED, *[Status.CANCELED] * 4]


async def test_retry_all_that_fit(cluster: Any) -> None:
    a = await cluster.node("a")
    operators = Operators(a)
    ids = [await faulted(a, name=f"n{number % 2}") for number in range(6)]
    other = (await a.start(Workflow(Event("go"), id="waits"), name="n0")).result.instance_id

    done = await operators.retry_all(InstanceFilter(names=("n0",)), who="ann", why="outage over")
    for identity in ids:
        await a.settle(identity)

    assert (done.changed, done.failed) == (3, ())
    assert [len(acts(await a.journal(identity))) for identity in [*ids, other]] == [1, 0, 1, 0, 1, 0, 0]
    assert await operators.retry_all(InstanceFilter(statuses=("finished",)), who="ann") == type(done)()


async def test_a_retry_needs_its_place_again(cluster: Any) -> None:
    a = await cluster.node("a")
    operators = Operators(a)
    one = paying(activation=ActivationStrategy.SINGLETON)
    identity = (await a.start(one)).result.instance_id
    await a.wait_at_rest(identity)
    root = Sequence(Event("go"), charge.bind("visa", 1))
    held = Workflow(root, id="paying", version=2, activation=ActivationStrategy.SINGLETON)
    await a.start(held)

    with pytest.raises(InstanceAtRest, match="allows one at a time"):
        await operators.retry(identity, who="ann")


async def test_delete_refuses_what_lives(cluster: Any) -> None:
    a = await cluster.node("a")
    operators = Operators(a)
    ids = [(await a.start(Workflow(Event("go"), id="waits"))).result.instance_id for _ in range(3)]
    with pytest.raises(DeletionRefused):
        await operators.delete(ids[0], who="ann")
    await operators.cancel(ids[1], who="ann")

    assert await operators.delete(ids[0], terminate=True, who="ann")
    assert not await operators.delete(ids[0], who="ann")
    done = await operators.delete_all(InstanceFilter(definition_ids=("waits",)), who="ann")

    assert done.changed == 1
    assert (await a.read(ids[2])).status is Status.SUSPENDED
    with pytest.raises(InstanceNotFound):
        await a.read(ids[0])


async def test_dead_letters_are_replayed_and_discarded(cluster: Any) -> None:
    a = await cluster.node("a")
    operators = Operators(a)
    identity = (await a.start(Workflow(Event("go"), id="waits"))).result.instance_id
    now = await a.store.now()
    rows = [
        WorkRow(
            tenant=cluster.tenant,
            id=f"w{number}",
            kind=WorkKind.RESUME,
            queue=queue_of(cluster.tenant),
            instance_id=identity,
            bookmark_seq=1,
            created=now,
        )
        for number in range(2)
    ]
    letters = tuple(DeadLetterRow(work=row, reason="attempts", died=now) for row in rows)
    await a.store.commit([Commit(tenant=cluster.tenant, burst_id="x", dead_letters=letters)])
    assert len(await operators.dead_letters()) == 2

    assert await operators.discard(["w1"], who="ann", why="twice") == 1
    assert await operators.replay(["w0", "w1"], who="ann") == 1
    assert await operators.replay(["w0"], who="ann") == 0
    node_of(a).take_work()
    ended = await a.wait_at_rest(identity)

    assert ended.status is Status.FINISHED
    assert [act["verb"] for act in acts(await a.journal(identity))] == ["discard dead letter", "replay dead letter"]
