"""Rule H16: events that one sender sends one after the other to one address arrive in that order, on every store."""

from __future__ import annotations

import asyncio
import random
from datetime import timedelta
from typing import Any

import pytest

from holdfast import activity, first, wait_for, workflow
from holdfast.management.runtime import ManagedRuntime
from tests.support.probe import probe

COUNT = 12


@activity
async def pass_gate() -> None:
    await probe.gate.wait()


@activity
async def note(message: Any) -> Any:
    return message


@workflow
async def reads_key(number: str, count: int, gated: bool, effects: bool) -> list[int]:
    if gated:
        await pass_gate()
    got: list[Any] = []
    while len(got) < count:
        message = await wait_for("message", key=number)
        if effects:
            message = await note(message)
        got.append(message)
    return got


@workflow
async def reads_own(number: str, count: int, gated: bool, effects: bool) -> list[int]:
    if gated:
        await pass_gate()
    got: list[Any] = []
    while len(got) < count:
        message = await wait_for("message")
        if effects:
            message = await note(message)
        got.append(message)
    return got


@workflow
async def reads_two_names(count: int) -> list[int]:
    await pass_gate()
    got: list[Any] = []
    while len(got) < count:
        one = await wait_for("one")
        got.append(one)
        won = await first(wait_for("one"), wait_for("two"))
        got.append(won)
    return got


async def node(cluster: Any, name: str, **more: Any) -> ManagedRuntime:
    runtime: ManagedRuntime = await cluster.node(name, workflows=[reads_key, reads_own, reads_two_names], **more)
    return runtime


def address_of(kind: str, name: str) -> dict[str, Any]:
    return {"instance": {"instance_id": name}, "correlation": {"correlation_id": name}, "key": {"key": name}}[kind]


class Conversation:
    """One instance, the nodes that work, and the node that sends."""

    def __init__(self, cluster: Any, kind: str, name: str) -> None:
        self.cluster = cluster
        self.kind = kind
        self.name = name
        self.nodes: list[ManagedRuntime] = []

    async def open(self, workers: int, *, sender_works: bool) -> None:
        self.nodes = [await node(self.cluster, f"{self.name}-{number}", work=True) for number in range(workers)]
        self.sender = self.nodes[0] if sender_works else await node(self.cluster, f"{self.name}-s")

    async def start(self, **inputs: Any) -> None:
        reads = reads_key if self.kind == "key" else reads_own
        await self.nodes[-1].start(
            reads, {"number": self.name, **inputs}, instance_id=self.name, correlation_id=self.name
        )

    async def send(self, messages: range) -> None:
        for message in messages:
            await self.sender.stimuli.event("message", message, **address_of(self.kind, self.name))

    async def result(self) -> Any:
        return (await self.nodes[0].wait_at_rest(self.name)).outputs["result"]


@pytest.mark.parametrize("sender_works", [True, False], ids=["worker sends", "other sends"])
@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.parametrize("kind", ["instance", "correlation", "key"])
async def test_events_arrive_in_the_order_in_which_they_were_sent(
    cluster: Any, kind: str, workers: int, sender_works: bool
) -> None:
    for phase in ("before", "waiting", "during an effect", "between effects"):
        probe.renew()
        talk = Conversation(cluster, kind, f"c-{phase.replace(' ', '-')}")
        await talk.open(workers, sender_works=sender_works)
        inputs = {"count": COUNT, "gated": phase == "during an effect", "effects": phase == "between effects"}
        if phase == "before" and kind != "instance":
            await talk.send(range(COUNT))
            await talk.start(**inputs)
        else:
            await talk.start(**inputs)
            await talk.send(range(COUNT // 2))
            probe.gate.set()
            await talk.send(range(COUNT // 2, COUNT))

        assert await talk.result() == list(range(COUNT)), phase


@pytest.mark.parametrize("seed", range(3))
async def test_several_senders_keep_their_own_order(cluster: Any, seed: int) -> None:
    """Two nodes with and one without a worker, two senders each, with pauses of any length between starts and sends."""
    chance = random.Random(seed)
    nodes = [await node(cluster, "a", work=True), await node(cluster, "b", work=True), await node(cluster, "c")]
    kind = chance.choice(["instance", "correlation", "key"])
    reads = reads_key if kind == "key" else reads_own
    senders, each = 6, 8
    inputs = {"number": "talk", "count": senders * each, "gated": True, "effects": bool(seed % 2)}
    await nodes[1].start(reads, inputs, instance_id="talk", correlation_id="talk")

    async def send(sender: int) -> None:
        for number in range(each):
            for _ in range(chance.randrange(5)):
                await asyncio.sleep(0)
            await nodes[sender % 3].stimuli.event("message", [sender, number], **address_of(kind, "talk"))
            if sender == 0 and number == 2:
                probe.gate.set()

    await asyncio.gather(*map(send, range(senders)))

    got = (await nodes[0].wait_at_rest("talk")).outputs["result"]
    assert [[number for owner, number in got if owner == sender] for sender in range(senders)] == [
        list(range(each))
    ] * senders


async def test_events_of_different_names_keep_their_order_too(cluster: Any) -> None:
    """Where an instance waits for either, the one that was sent first wins."""
    nodes = [await node(cluster, "a", work=True), await node(cluster, "b", work=True)]
    await nodes[1].start(reads_two_names, {"count": 8}, instance_id="talk")
    for number in range(0, 8, 2):
        await nodes[0].stimuli.event("one", number, instance_id="talk")
        await nodes[0].stimuli.event("two", number + 1, instance_id="talk")

    probe.gate.set()

    assert (await nodes[0].wait_at_rest("talk")).outputs["result"] == list(range(8))


async def test_delayed_events_take_the_place_of_their_sending(cluster: Any) -> None:
    nodes = [await node(cluster, "a", work=True), await node(cluster, "b", work=True)]
    inputs = {"number": "talk", "count": COUNT, "gated": False, "effects": True}
    await nodes[1].start(reads_key, inputs, instance_id="talk")

    for number in range(COUNT):
        await nodes[0].stimuli.event("message", number, key="talk", delay=timedelta(milliseconds=5))

    assert (await nodes[0].wait_at_rest("talk")).outputs["result"] == list(range(COUNT))
