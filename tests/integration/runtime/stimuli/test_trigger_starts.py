"""Triggers: indexed when a definition is published, gone when it is retracted, and seen by every node."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from datetime import timedelta
from typing import Any

import pytest

from holdfast import Activity, Context, Status, Workflow, expr, output
from holdfast.activities import Event, Flowchart, If, Sequence, SetOutput
from holdfast.api import ActivationStrategy
from holdfast.errors import DefinitionNotPublished, InvalidDefinition
from holdfast.model.definition import Definition
from holdfast.model.listing import InstanceFilter, InstanceQuery
from holdfast.model.requests import DispatchDefinition, DispatchTrigger
from holdfast.ports import Registration
from holdfast.runtime.cluster import pulse
from holdfast.runtime.plans import current_versions

SOON = timedelta(seconds=20)


class Letter(Activity, pure=True, trigger=True):
    """Starts a workflow when a letter comes for one of these people."""

    people: list[str]
    text: str = output()

    def trigger_payloads(self) -> Iterable[Any]:
        return [{"to": person} for person in self.people]

    def execute(self, context: Context) -> None:
        if context.is_trigger:
            context.set_output("text", context.trigger_payload["text"])
            context.complete()
        else:
            context.bookmark({"to": self.people[0]}, resume=self.came)

    def came(self, context: Context, payload: Any) -> None:
        context.set_output("text", payload["text"])
        context.complete()


def answering() -> Workflow:
    return Workflow(
        Sequence(Letter(["Ada", "Grace"], text="first", can_start=True), SetOutput("read", expr("first"))),
        id="answering",
        outputs={"read": str},
        variables={"first": ""},
    )


async def found(runtime: Any, definition_id: str, count: int) -> list[str]:
    """The ids of its instances, once there are so many: lists may be a moment behind."""
    query = InstanceQuery(tenant=runtime.tenant, filter=InstanceFilter(definition_ids=(definition_id,)))
    while True:
        page = await runtime.store.search(query)
        if len(page.items) >= count:
            return [item.id for item in page.items]
        await asyncio.sleep(0.01)


async def ended(runtime: Any, definition_id: str) -> list[Any]:
    return [await runtime.wait_at_rest(name) for name in await found(runtime, definition_id, 1)]


async def test_a_class_says_what_starts_it(cluster: Any) -> None:
    node = await cluster.node("a", work=True)
    await node.definitions.deploy(answering())

    listed = await node.triggers.list()
    await node.stimuli.send("Letter", {"to": "Grace"}, input={"text": "hello"}, wait=SOON)
    await node.stimuli.send("Letter", {"to": "Nobody"}, input={"text": "hello"}, wait=SOON)

    assert [(item.activity_id, item.payload) for item in listed] == [
        ("Letter1", {"to": "Ada"}),
        ("Letter1", {"to": "Grace"}),
    ]
    assert [result.outputs for result in await ended(node, "answering")] == [{"read": "hello"}]


async def test_an_instance_starts_at_the_trigger_that_was_met(cluster: Any) -> None:
    node = await cluster.node("a", work=True)
    by_mail, by_phone = Event("mail", id="mail", can_start=True), Event("phone", id="phone", can_start=True)
    mailed, phoned = SetOutput("way", "mail"), SetOutput("way", "phone")
    chart = Flowchart(by_mail, by_phone, connections=[by_mail >> mailed, by_phone >> phoned])
    await node.definitions.deploy(Workflow(chart, id="ways", outputs={"way": str}))

    await node.stimuli.event("phone", wait=SOON)

    (result,) = await ended(node, "ways")
    assert result.outputs == {"way": "phone"}


async def test_inputs_are_evaluated_at_publish(cluster: Any) -> None:
    node = await cluster.node("a")
    await node.definitions.deploy(Workflow(Event(expr("'order ' + str(40 + 2)"), can_start=True), id="made"))
    assert [item.payload for item in await node.triggers.list("made")] == [{"event_name": "order 42"}]

    needs = Workflow(Sequence(Event(expr("name"), can_start=True, id="e")), id="needs", variables={"name": "x"})
    with pytest.raises(InvalidDefinition) as refusal:
        await node.definitions.deploy(needs)
    (problem,) = refusal.value.problems
    assert (problem.code, problem.path) == ("trigger-input", "/root/activities/0/inputs")
    with pytest.raises(InvalidDefinition):
        await node.definitions.deploy(
            Workflow(Sequence(SetOutput("x", 1, can_start=True)), id="no", outputs={"x": int})
        )


async def test_retracting_deleting_and_publishing_another_version_move_the_index(cluster: Any) -> None:
    node = await cluster.node("a")

    async def published(name: str) -> list[Any]:
        root = {"id": "e", "type": "Event", "options": {"can_start": True}, "inputs": {"event_name": name}}
        await node.definitions.save_draft({"format": "holdfast/definition@1", "id": "d", "root": root})
        assert (await node.definitions.publish("d")).triggers == 1
        return [item.payload["event_name"] for item in await node.triggers.list()]

    assert await published("one") == ["one"]
    assert await published("two") == ["two"]
    await node.definitions.publish("d", 1)
    assert [item.payload["event_name"] for item in await node.triggers.list()] == ["one"]
    await node.definitions.retract("d")
    assert not await node.triggers.list()
    await node.definitions.publish("d", 2)
    await node.definitions.delete_version("d", 2)
    assert not await node.triggers.list()


# -- several nodes -----------------------------------------------------------------------------------------------------


async def starts(runtime: Any) -> tuple[str, ...]:
    await asyncio.sleep(0.01)
    return tuple((await runtime.stimuli.explain("Event", name="go")).starts)


def test_a_change_is_noticed_within_a_second() -> None:
    """By how long a node trusts what it has seen; how long a machine takes is not for a test to say."""
    assert timedelta(seconds=1) > current_versions.EPOCH_FRESH_FOR + pulse.ASK_INTERVAL


async def test_what_one_node_publishes_another_starts_and_triggers(cluster: Any) -> None:
    first, second = await cluster.node("a", work=True), await cluster.node("b", work=True)
    with pytest.raises(LookupError):
        await second.dispatcher.dispatch(
            DispatchDefinition(definition_id="d")
        )  # It has looked, and knows that there is none.
    assert not (await second.stimuli.explain("Event", name="go")).starts
    document = {
        "format": "holdfast/definition@1",
        "id": "d",
        "root": {"id": "e", "type": "Event", "options": {"can_start": True}, "inputs": {"event_name": "go"}},
    }

    await first.definitions.save_and_publish(document)

    async with asyncio.timeout(20):
        while await starts(second) != ("d",):
            continue
        answer = await second.dispatcher.dispatch(
            DispatchTrigger(activity_type="Event", payload={"event_name": "go"}), wait=SOON
        )
    assert answer.status == "finished"
    assert (await second.dispatcher.dispatch(DispatchDefinition(definition_id="d"))).started
    await first.definitions.retract("d")
    async with asyncio.timeout(20):
        while await starts(second):
            continue
        with pytest.raises(DefinitionNotPublished):
            await second.dispatcher.dispatch(DispatchDefinition(definition_id="d"))


STRATEGIES = {
    ActivationStrategy.SINGLETON: 1,
    ActivationStrategy.CORRELATED_SINGLETON: 4,
    ActivationStrategy.CORRELATION: 4,
}


@pytest.mark.parametrize("strategy", list(STRATEGIES))
async def test_64_starters_on_every_way_in(cluster: Any, strategy: ActivationStrategy) -> None:
    """Rule M2: the slot is a row of the start's commit, so whoever asks and however, one gets it."""
    nodes = [await cluster.node(name, work=True) for name in ("a", "b", "c")]
    guarded = Workflow(Sequence(Event("go", can_start=True), Event("stop")), id="guarded", activation=strategy)
    for node in nodes:
        await node.definitions.deploy(guarded)

    async def start(number: int) -> None:
        node, correlation = nodes[number % 3], f"c{number % 4}"
        request = DispatchDefinition(definition_id="guarded", correlation_id=correlation)
        trigger = DispatchTrigger(activity_type="Event", payload={"event_name": "go"}, correlation_id=correlation)
        ways = [
            lambda: node.start(guarded, correlation_id=correlation),
            lambda: node.durable.dispatch(request),
            lambda: node.inline.dispatch(request),
            lambda: node.durable.dispatch(trigger),
            lambda: node.inline.dispatch(trigger),
            lambda: node.stimuli.event("go", correlation_id=correlation, wait=SOON),
            lambda: node.client(f"i{number}").create_and_run("guarded", correlation_id=correlation),
            lambda: node.client(f"i{number}").create("guarded", correlation_id=correlation),
        ]
        await ways[number // 8]()

    await asyncio.gather(*(start(number) for number in range(64)))

    ids = await found(nodes[0], "guarded", STRATEGIES[strategy])
    assert len(ids) == STRATEGIES[strategy]
    for name in ids:
        await nodes[1].cancel(name)
    assert (await nodes[2].start(guarded, correlation_id="c0")).result.status is Status.SUSPENDED


class OnePerRegion:
    """A strategy of one's own: the region stands before the first dash of the correlation id."""

    name = "regions"
    needs = ("holdfast",)

    def register(self, registration: Registration) -> None:
        registration.activation_strategy("one_per_region", self.place)

    @staticmethod
    def place(definition: Definition, correlation_id: str | None) -> str | None:
        return None if correlation_id is None else f"{definition.id}:{correlation_id.partition('-')[0]}"


async def test_an_activation_strategy_of_ones_own(cluster: Any) -> None:
    nodes = [await cluster.node(name, plugins=[OnePerRegion()]) for name in ("a", "b")]
    guarded = Workflow(Sequence(Event("stop")), id="guarded", activation="one_per_region")

    answers = await asyncio.gather(
        *(
            nodes[number % 2].start(guarded, correlation_id=f"{'eu' if number % 3 else 'us'}-{number}")
            for number in range(16)
        )
    )
    free = [(await nodes[0].start(guarded)).result for _ in range(2)]

    started = [answer.result for answer in answers if answer.result is not None]
    assert sorted(result.correlation_id.partition("-")[0] for result in started) == ["eu", "us"]
    assert all(free)
    with pytest.raises(InvalidDefinition) as refusal:
        await (await cluster.node("c")).start(guarded)
    assert [problem.code for problem in refusal.value.problems] == ["unknown-strategy"]


async def test_a_trigger_inside_is_a_wait(cluster: Any) -> None:
    node = await cluster.node("a", work=True)
    inside = Workflow(
        If(expr("True"), Sequence(Letter(["Ada"], text="t"), SetOutput("t", expr("t")))),
        id="inside",
        outputs={"t": str},
        variables={"t": ""},
    )
    started = (await node.start(inside)).result

    await node.stimuli.send("Letter", {"to": "Ada"}, input={"text": "hi"}, instance_id=started.instance_id)

    assert (await node.wait_at_rest(started.instance_id)).outputs == {"t": "hi"}
