"""Dispatched work: accepted at once or refused at once, done by whoever takes it up, once."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from holdfast import Context, Holdfast, Status, Workflow, activity, expr
from holdfast.activities import Delay, Event, Sequence, SetOutput
from holdfast.api import ActivationStrategy
from holdfast.errors import (
    BookmarkNotFound,
    DefinitionNotFound,
    DefinitionNotPublished,
    InstanceEnded,
    InstanceNotFound,
    InvalidInput,
    KeyReused,
)
from holdfast.model.catalog import Which
from holdfast.model.requests import (
    DispatchDefinition,
    Dispatched,
    DispatchInstance,
    DispatchResume,
    DispatchTrigger,
)
from tests.support.node import node_of

SOON = timedelta(seconds=20)


def order(**options: Any) -> Workflow:
    return Workflow(
        Sequence(Event("paid", result="payment"), SetOutput("total", expr("amount + payment['tip']"))),
        id="order",
        inputs={"amount": int},
        outputs={"total": int},
        variables={"payment": None},
        **options,
    )


def failing() -> Workflow:
    return Workflow(
        SetOutput("share", expr("10 // parts")), id="failing", inputs={"parts": int}, outputs={"share": int}
    )


@dataclass
class Tip:
    cents: int


async def test_values_of_the_workflows_own_types_go_on_with_it(cluster: Any) -> None:
    """By the types of the workflow that they reach, as those of a start and of an event."""
    node = await cluster.node("a", work=True)
    tipped = Workflow(
        Sequence(Event("paid", result="payment"), SetOutput("given", expr("payment['tip']"))),
        id="tipped",
        outputs={"given": Tip},
        variables={"payment": None},
    )
    started = await node.start(tipped)

    await node.dispatcher.dispatch(
        DispatchInstance(instance_id=started.result.instance_id, input={"tip": Tip(7)}), wait=SOON
    )

    assert (await node.wait_at_rest(started.result.instance_id)).outputs == {"given": Tip(7)}


async def test_a_dispatched_start_is_pending_and_readable_at_once(cluster: Any) -> None:
    asking = await cluster.node("a")
    await asking.definitions.deploy(order())

    answer = await asking.dispatcher.dispatch(
        DispatchDefinition(
            definition_id="order",
            input={"amount": 5},
            correlation_id="c-1",
            name="Mine",
            properties={"shelf": "A"},
            principal="ada",
            queue="nobody-serves-this",
        )
    )

    assert answer.status == "pending"
    found = await asking.read(answer.instance_id)
    assert (found.status, found.correlation_id, found.name) == (Status.PENDING, "c-1", "Mine")
    assert found._live.properties == {"shelf": "A"}
    assert found._live.principal == "ada"
    assert not [entry for entry in await asking.journal(answer.instance_id) if entry.event == "instance_started"]
    await cluster.check(asking, answer.instance_id)
    assert (await asking.cancel(answer.instance_id)).status is Status.CANCELED


async def test_another_node_begins_what_one_accepted(cluster: Any) -> None:
    asking = await cluster.node("a")
    await asking.definitions.deploy(order())
    asking.intake.paused = True
    answer = await asking.dispatcher.dispatch(DispatchDefinition(definition_id="order", input={"amount": 5}))
    await cluster.node("b", work=True)

    assert await asking.wait_burst(answer.instance_id, SOON) == "suspended"
    await cluster.check(asking, answer.instance_id)


async def test_a_process_without_a_worker_leaves_what_it_accepts_to_others(tmp_path: Path) -> None:
    """`serve --no-worker`: neither its starts nor what it is told run there, effects least of all."""
    ran: list[str] = []

    @activity
    async def where(context: Context) -> None:
        ran.append(context.service(str))

    where_then = Workflow(Sequence(where.bind(), Event("go"), where.bind()), id="where_then")

    def process(node: str, *, worker: bool) -> Holdfast:
        url = f"sqlite:///{tmp_path}/door.db"
        return Holdfast(
            store=url, workflows=[where_then], services={str: node}, node=node, worker=worker, entry_points=False
        )

    async with process("door", worker=False) as door:
        answer = await door.runtime.dispatcher.dispatch(DispatchDefinition(definition_id="where_then"))
        assert isinstance(answer, Dispatched)
        assert answer.instance_id is not None
        async with process("worker", worker=True) as worker:
            assert await worker.runtime.wait_burst(answer.instance_id, SOON) == "suspended"
            await door.runtime.stimuli.event("go", instance_id=answer.instance_id)
            assert (await worker.runtime.wait_at_rest(answer.instance_id)).status is Status.FINISHED

            begun = await door.runtime.start(
                where_then
            )  # It runs here until it waits, as `execute` and operators' verbs do.
            assert begun.result is not None
            assert await door.runtime.wait_burst(begun.result.instance_id, SOON) == "suspended"

    assert ran == ["worker", "worker", "worker"]


async def test_a_response_waits_only_if_it_is_told_to(cluster: Any) -> None:
    node = await cluster.node("a", work=True)
    await node.definitions.deploy(order())

    answer = await node.dispatcher.dispatch(DispatchDefinition(definition_id="order", input={"amount": 5}), wait=SOON)

    assert answer.status == "suspended"


async def test_what_cannot_be_is_refused_at_once_and_nothing_is_queued(cluster: Any) -> None:
    node = await cluster.node("a")
    await node.definitions.save_draft({"format": "holdfast/definition@1", "id": "d", "root": {"type": "Sequence"}})
    await node.definitions.deploy(order())
    ended = (await node.inline.dispatch(DispatchDefinition(definition_id="d", version=Which.LATEST))).instance_id

    refusals: list[tuple[Any, type[Exception]]] = [
        (DispatchDefinition(definition_id="nobody"), DefinitionNotFound),
        (DispatchDefinition(definition_id="order", version=7), DefinitionNotFound),
        (DispatchDefinition(definition_id="d"), DefinitionNotPublished),
        (DispatchDefinition(definition_id="order"), InvalidInput),
        (DispatchInstance(instance_id="nobody"), InstanceNotFound),
        (DispatchInstance(instance_id=ended), InstanceEnded),
        (DispatchResume(activity_type="Event", instance_id="nobody"), InstanceNotFound),
        (DispatchResume(activity_type="Event", instance_id=ended), InstanceEnded),
    ]
    for request, error in refusals:
        with pytest.raises(error):
            await node.dispatcher.dispatch(request)

    stats = await node.store.stats(cluster.tenant)
    assert (stats.work_ready, stats.work_later) == (0, 0)
    assert sum(stats.instances.values()) == 1


@pytest.mark.parametrize("which", [Which.LATEST, Which.LATEST_OR_PUBLISHED, 1])
async def test_version_options(cluster: Any, which: Any) -> None:
    node = await cluster.node("a", work=True)
    await node.definitions.save_draft({"format": "holdfast/definition@1", "id": "d", "root": {"type": "Sequence"}})

    answer = await node.dispatcher.dispatch(DispatchDefinition(definition_id="d", version=which), wait=SOON)

    assert answer.status == "finished"


async def test_the_same_key_starts_once(cluster: Any) -> None:
    node = await cluster.node("a", work=True)
    await node.definitions.deploy(order())
    request = DispatchDefinition(definition_id="order", input={"amount": 5}, idempotency_key="k")

    first = await node.dispatcher.dispatch(request, wait=SOON)
    again = await node.dispatcher.dispatch(request)

    assert first.started
    assert not again.started
    assert again.existing == first.instance_ids
    assert again.status == "suspended"
    with pytest.raises(KeyReused):
        await node.dispatcher.dispatch(
            DispatchDefinition(definition_id="order", input={"amount": 6}, idempotency_key="k")
        )
    await node.cancel(first.instance_id)
    await node.client(first.instance_id).delete()
    late = await node.dispatcher.dispatch(request)
    assert (late.existing, late.deleted) == (first.instance_ids, True)


async def test_an_instance_is_resumed_with_its_input_merged(cluster: Any) -> None:
    node = await cluster.node("a", work=True)
    await node.definitions.deploy(order())
    started = await node.dispatcher.dispatch(DispatchDefinition(definition_id="order", input={"amount": 5}), wait=SOON)

    answer = await node.dispatcher.dispatch(
        DispatchInstance(instance_id=started.instance_id, input={"amount": 40, "tip": 2}), wait=SOON
    )

    assert answer.instance_ids == started.instance_ids
    result = await node.wait_at_rest(started.instance_id)
    assert result.outputs == {"total": 42}


@pytest.mark.parametrize("how", [{"bookmark_id": "b1"}, {"activity_id": "Event1"}, {"node_id": "Event1"}])
async def test_an_instance_is_resumed_at_the_place_that_is_named(cluster: Any, how: dict[str, Any]) -> None:
    node = await cluster.node("a", work=True)
    await node.definitions.deploy(order())
    started = await node.dispatcher.dispatch(DispatchDefinition(definition_id="order", input={"amount": 5}), wait=SOON)

    with pytest.raises(BookmarkNotFound):
        await node.dispatcher.dispatch(DispatchInstance(instance_id=started.instance_id, bookmark_id="b9"))
    await node.dispatcher.dispatch(DispatchInstance(instance_id=started.instance_id, input={"tip": 1}, **how))

    assert (await node.wait_at_rest(started.instance_id)).outputs == {"total": 6}


async def test_a_faulted_instance_runs_its_failed_activities_again(cluster: Any) -> None:
    node = await cluster.node("a", work=True)
    await node.definitions.deploy(failing())
    started = await node.dispatcher.dispatch(DispatchDefinition(definition_id="failing", input={"parts": 0}), wait=SOON)
    assert started.status == "faulted"

    again = DispatchInstance(instance_id=started.instance_id, input={"parts": 5}, idempotency_key="once")
    answer = await node.dispatcher.dispatch(again, wait=SOON)

    assert answer.status == "finished"
    assert (await node.read(started.instance_id)).outputs == {"share": 2}
    assert not (await node.dispatcher.dispatch(again)).started


async def test_triggers_match_before_they_are_queued(cluster: Any) -> None:
    node = await cluster.node("a", work=True)
    for name in ("one", "two"):
        await node.definitions.deploy(
            Workflow(
                Sequence(Event("placed", can_start=True, result="data"), SetOutput("data", expr("data"))),
                id=name,
                outputs={"data": int},
                variables={"data": None},
            )
        )

    answer = await node.dispatcher.dispatch(
        DispatchTrigger(activity_type="Event", payload={"event_name": "placed"}, input=7, correlation_id="c")
    )
    none = await node.dispatcher.dispatch(DispatchTrigger(activity_type="Event", payload={"event_name": "other"}))

    assert (answer.count, none.count) == (2, 0)
    for name in answer.instance_ids:
        result = await node.wait_at_rest(name)
        assert (result.outputs, result.correlation_id) == ({"data": 7}, "c")


async def test_resume_answers_with_whom_it_matched(cluster: Any) -> None:
    node = await cluster.node("a", work=True)
    await node.definitions.deploy(order())
    ids = [
        (
            await node.dispatcher.dispatch(
                DispatchDefinition(definition_id="order", input={"amount": 1}, correlation_id=correlation), wait=SOON
            )
        ).instance_id
        for correlation in ("x", "x", "y")
    ]
    request = DispatchResume(
        activity_type="Event", payload={"event_name": "paid"}, input={"tip": 1}, correlation_id="x", idempotency_key="k"
    )

    answer = await node.dispatcher.dispatch(request)
    again = await node.dispatcher.dispatch(request)

    assert sorted(answer.instance_ids) == sorted(ids[:2])
    assert sorted(again.existing) == sorted(ids[:2])
    for name in ids[:2]:
        assert (await node.wait_at_rest(name)).outputs == {"total": 2}
    assert (await node.read(ids[2])).status is Status.SUSPENDED


async def test_the_higher_priority_goes_first(cluster: Any) -> None:
    asking = await cluster.node("a")
    asking.intake.paused = True
    await asking.definitions.deploy(Workflow(Sequence(), id="quick"))
    for number in range(4):
        await asking.dispatcher.dispatch(
            DispatchDefinition(definition_id="quick", instance_id=f"i{number}", priority=number)
        )

    async with asking.store.claim(node_of(asking).components.poller.queues, 10) as claim:
        order_of_claim = [row.instance_id for row in claim.rows]

    assert order_of_claim == ["i3", "i2", "i1", "i0"]


async def test_a_delay_holds_it_back(cluster: Any) -> None:
    node = await cluster.node("a", work=True)
    await node.definitions.deploy(Workflow(Sequence(), id="quick"))

    late = await node.dispatcher.dispatch(DispatchDefinition(definition_id="quick", delay=timedelta(days=1)))
    soon = await node.dispatcher.dispatch(DispatchDefinition(definition_id="quick", delay=timedelta(milliseconds=20)))

    assert (await node.wait_at_rest(soon.instance_id)).status is Status.FINISHED
    assert (await node.read(late.instance_id)).status is Status.PENDING
    assert (await node.store.stats(cluster.tenant)).work_later == 1


async def test_a_place_that_is_taken_starts_nothing(cluster: Any) -> None:
    node = await cluster.node("a")
    await node.definitions.deploy(order(activation=ActivationStrategy.SINGLETON))
    request = DispatchDefinition(definition_id="order", input={"amount": 1}, queue="nobody-serves-this")

    first = await node.dispatcher.dispatch(request)
    second = await node.dispatcher.dispatch(request)

    assert second.existing == first.instance_ids
    await node.cancel(first.instance_id)
    assert (await node.dispatcher.dispatch(request)).started


async def test_a_client_makes_runs_and_moves_an_instance(cluster: Any) -> None:
    node = await cluster.node("a")
    await node.definitions.deploy(order())
    client = node.client("mine")

    assert (await client.create("order", input={"amount": 3})).instance_ids == ("mine",)
    assert (await client.create("order", input={"amount": 3})).existing == ("mine",)
    assert (await client.state()).status is Status.PENDING
    assert (await client.run()).status is Status.SUSPENDED
    assert (await node.store.stats(cluster.tenant)).work_later == 0
    exported = await client.export()
    await client.cancel()
    assert await client.delete()
    with pytest.raises(InstanceNotFound):
        await client.state()
    await client.import_(exported)
    assert (await client.run(payload={"tip": 1})).outputs == {"total": 4}
    assert (await client.journal())[0].event == "instance_started"
    await cluster.check(node, "mine")


async def test_a_client_starts_in_one_commit(cluster: Any) -> None:
    node = await cluster.node("a")
    await node.definitions.deploy(Workflow(Sequence(Delay(timedelta(days=1))), id="sleepy"))

    result = await node.client("s").create_and_run("sleepy")
    again = await node.client("s").create_and_run("sleepy")

    assert (result.status, result.commits, again.commits) == (Status.SUSPENDED, 1, 1)
