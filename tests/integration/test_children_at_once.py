"""`gather(run_child(…), …)` in a store: children run at once, as instances of their own."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from holdfast import Status, gather, run_child, wait_for, workflow


@workflow
async def part(name: str) -> str:
    answer = await wait_for("go", key=name)
    if answer == "no":
        raise ValueError(name)
    return f"{name}: {answer}"


@workflow
async def whole(names: list[str]) -> list[str]:
    return await gather(run_child(part, "first"), *[run_child(part, name) for name in names])


async def children(runtime: Any, identity: str) -> list[str]:
    marks = (await runtime.read(identity))._live.bookmarks.values()
    found = [mark.payload["child"] for mark in marks]
    for name in found:
        await settled(runtime, name, Status.SUSPENDED)
    return found


async def settled(runtime: Any, identity: str, status: Status) -> Any:
    seen = 0
    while (result := await runtime.find(identity)) is None or result.status is not status:
        seen = await runtime.store.wait_for_change(seen, timedelta(seconds=1))
    return result


async def test_children_at_once(cluster: Any) -> None:
    node = await cluster.node("a", work=True, definitions=[part, whole])
    identity = (await node.start(whole, {"names": ["b", "c"]})).result.instance_id
    found = await children(node, identity)
    assert len(found) == 3  # All of them wait, before the first has ended.

    for name in ("c", "b", "first"):
        await node.stimuli.event("go", "yes", key=name)

    done = await settled(node, identity, Status.FINISHED)
    assert done.outputs == {"result": ["first: yes", "b: yes", "c: yes"]}
    await cluster.check(node, identity)


async def test_one_that_fails_leaves_the_others_and_a_retry_starts_another(cluster: Any) -> None:
    """No handler catches the failure: the other child goes on, and its result is kept (rule H3)."""
    node = await cluster.node("a", work=True, definitions=[part, whole])
    identity = (await node.start(whole, {"names": ["b"]})).result.instance_id
    first, second = await children(node, identity)

    await node.stimuli.event("go", "no", key="b")

    failed = await settled(node, identity, Status.FAULTED)
    assert failed.incidents[0].message == f"The workflow {second} ended as faulted."
    await settled(node, first, Status.SUSPENDED)

    await node.retry(identity)
    again = await children(node, identity)
    assert first in again
    assert second not in again
    assert len(again) == 2
    await cluster.check(node, identity)

    await node.stimuli.event("go", "yes", key="b")
    await node.stimuli.event("go", "yes", key="first")
    done = await settled(node, identity, Status.FINISHED)
    assert done.outputs == {"result": ["first: yes", "b: yes"]}
