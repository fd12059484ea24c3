"""An event of another shape than the one that is waited for: whoever sends it hears why, or a dead letter says it; who waits,
waits on, and takes the next one."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest

from holdfast import Status, wait_for, workflow
from holdfast.errors import PayloadRefused
from holdfast.management.instances.operators import Operators
from holdfast.model.requests import DispatchInstance, DispatchResume
from holdfast.model.values import TypeRegistry
from holdfast.runtime.payload_codec import decode_payload

SOON = timedelta(seconds=20)
GOOD = {"by": "Ada", "amount": 5}
BAD = {"by": "Ada", "amount": "much"}


@dataclass
class Offer:
    by: str
    amount: int


@workflow
async def mine() -> str:
    return (await wait_for(Offer)).by


@workflow
async def keyed(number: str) -> str:
    return (await wait_for(Offer, key=number)).by


@workflow
async def anyones() -> str:
    return (await wait_for(Offer, broadcast=True)).by


@workflow
async def late() -> str:
    await wait_for("go", key="late")
    return (await wait_for(Offer)).by


class Older:
    """Another class of the same name, as of an older version."""

    @dataclass
    class Offer:
        by: str


@workflow
async def older(number: str) -> str:
    return (await wait_for(Older.Offer, key=number)).by


async def started(runtime: Any, workflow: Any, inputs: Any = None, **more: Any) -> str:
    return str((await runtime.start(workflow, inputs, **more)).result.instance_id)


async def letters(runtime: Any) -> list[tuple[str, str]]:
    found = await runtime.store.list_dead_letters(runtime.tenant)
    return [(item.reason, decode_payload(item.error, TypeRegistry())["message"]) for item in found]


async def buried(runtime: Any, many: int) -> None:
    seen = -1
    while len(await letters(runtime)) < many:
        seen = await runtime.store.wait_for_change(seen, timedelta(seconds=1))


async def check_goes_on(runtime: Any, name: str) -> None:
    """Nothing was burned: it is as it was, and takes what fits."""
    assert (await runtime.read(name)).status is Status.SUSPENDED
    await runtime.resume(name, None, GOOD)
    assert (await runtime.wait_at_rest(name)).outputs == {"result": "Ada"}


@pytest.mark.parametrize("address", ["instance", "key", "correlation", "guarded"])
async def test_whoever_sends_it_hears_what_is_wrong(cluster: Any, address: str) -> None:
    node = await cluster.node("a", work=True)
    name = await started(
        node, keyed if address == "key" else mine, {"number": "n"} if address == "key" else None, correlation_id="c"
    )
    how: dict[str, Any] = {
        "instance": {"instance_id": name},
        "key": {"key": "n"},
        "correlation": {"correlation_id": "c"},
        "guarded": {"instance_id": name, "idempotency_key": "k"},
    }[address]

    with pytest.raises(PayloadRefused) as caught:
        await node.stimuli.event("Offer", BAD, **how)

    error = caught.value
    assert (error.event_name, error.instance_id, error.problems[0].path) == ("Offer", name, "/amount")
    assert "/amount: Expected `int`, got `str`. An Offer has: by (string), amount (integer)." in str(error)
    assert await letters(node) == []
    await node.stimuli.event("Offer", GOOD, **how)
    assert (await node.wait_at_rest(name)).outputs == {"result": "Ada"}


async def test_who_resumes_a_bookmark_hears_it(cluster: Any) -> None:
    node = await cluster.node("a", work=True)
    name = await started(node, mine)

    with pytest.raises(PayloadRefused):
        await node.resume(name, None, BAD)
    with pytest.raises(PayloadRefused):
        await Operators(node).resume(name, None, BAD, who="op")
    for dispatcher in (node.durable, node.inline):
        with pytest.raises(PayloadRefused):
            await dispatcher.dispatch(DispatchInstance(instance_id=name, input=BAD))

    assert not any(entry.event == "operated" for entry in await node.journal(name))
    await check_goes_on(node, name)


async def test_one_that_is_queued_is_a_dead_letter(cluster: Any) -> None:
    sender, worker = await cluster.node("a"), await cluster.node("b", work=True, definitions=[keyed])
    name = await started(sender, keyed, {"number": "n"})

    await sender.stimuli.event("Offer", BAD, key="n", idempotency_key="k")
    await buried(worker, 1)

    ((reason, message),) = await letters(sender)
    assert reason == "refused"
    assert "/amount: Expected `int`, got `str`." in message
    await check_goes_on(sender, name)


async def test_one_that_came_early_is_a_dead_letter_and_can_be_replayed(cluster: Any) -> None:
    node = await cluster.node("a", work=True)
    name = await started(node, late)
    await node.stimuli.event("Offer", BAD, instance_id=name, wait=SOON)
    await node.stimuli.event("Offer", GOOD, instance_id=name, wait=SOON)

    await node.stimuli.event("go", key="late", wait=SOON)

    assert (await node.wait_at_rest(name)).outputs == {"result": "Ada"}
    assert [reason for reason, _ in await letters(node)] == ["refused"]
    assert not await node.store.inbox_of(node.tenant, name)


async def test_a_broadcast_is_a_dead_letter_for_each_that_it_does_not_fit(cluster: Any) -> None:
    node = await cluster.node("a", work=True)
    names = [await started(node, anyones) for _ in range(2)]

    await node.stimuli.event("Offer", BAD, wait=SOON)
    await buried(node, 2)

    assert [reason for reason, _ in await letters(node)] == ["refused", "refused"]
    for name in names:
        await check_goes_on(node, name)


async def test_dispatched_resumes_that_do_not_fit_are_dead_letters(cluster: Any) -> None:
    node = await cluster.node("a", work=True)
    name = await started(node, anyones)

    await node.durable.dispatch(DispatchResume(activity_type="Event", payload={"event_name": "Offer"}, input=BAD))
    await buried(node, 1)

    await check_goes_on(node, name)


async def test_the_next_oldest_takes_what_the_oldest_cannot(cluster: Any) -> None:
    node = await cluster.node("a", work=True)
    strict, easy = [await started(node, flow, {"number": "n"}) for flow in (keyed, older)]

    await node.stimuli.event("Offer", {"by": "Ada"}, key="n")

    assert (await node.wait_at_rest(easy)).outputs == {"result": "Ada"}
    await check_goes_on(node, strict)
