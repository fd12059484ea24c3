"""Large values rest in rows of their own: a commit writes what changed (rule H14)."""

from __future__ import annotations

from typing import Any

from holdfast import Event, ForEach, Sequence, SetVariable, Status, Workflow, activity, expr

ITEMS = [f"item {number:04} {'x' * 90}" for number in range(60)]
BIG = "b" * 10_000


@activity
async def touch(x: str) -> int:
    return len(x)


def looping() -> Workflow:
    body = Sequence(touch.bind(x=expr("item"), result="length"), SetVariable("total", expr("total + length")))
    return Workflow(
        Sequence(ForEach(expr("items"), item="item", body=body), Event("end")),
        inputs={"items": list},
        variables={"length": 0, "total": 0},
        id="looping",
    )


async def test_items_of_a_loop_are_written_once(cluster: Any) -> None:
    a, b = await cluster.node("a"), await cluster.node("b", activities=[touch])
    store = a.node.store
    sizes: list[int] = []
    commit = store.commit

    async def measured(batch: Any) -> Any:
        sizes.extend(
            len(item.instance.state) + sum(len(value.data) for value in item.values_added)
            for item in batch
            if item.instance is not None
        )
        return await commit(batch)

    a.node.store.commit = measured
    try:
        identity = (await a.start(looping(), {"items": ITEMS})).result.instance_id
        settled = await a.settle(identity)
    finally:
        a.node.store.commit = commit

    assert settled.variables["total"] == sum(map(len, ITEMS))
    assert sizes[0] > sum(map(len, ITEMS))
    assert max(sizes[1:]) < 2_000
    assert (await b.resume(identity)).status is Status.FINISHED
    await cluster.check(b, identity)


async def test_values_come_and_go_with_the_state(cluster: Any) -> None:
    a, b = await cluster.node("a"), await cluster.node("b")
    workflow = Workflow(
        Sequence(
            Event("one", result="kept"),
            Event("two", result="other"),
            SetVariable("kept", ""),
            Event("three"),
            SetVariable("same", expr("other == 'b' * 10000")),
            Event("four"),
        ),
        variables={"kept": "", "other": "", "same": False},
    )
    identity = (await a.start(workflow)).result.instance_id

    async def values() -> int:
        export = await a.node.store.export_instance(cluster.tenant, identity)
        return len(export.values)

    assert await values() == 0
    await b.resume(identity, payload=BIG)
    assert await values() == 1
    await a.resume(identity, payload=BIG)  # `kept` is emptied, `other` is the same content: the same row.
    assert await values() == 1
    assert (await b.read(identity)).variables["other"] == BIG
    moved = await b.resume(identity)
    assert moved.variables["same"] is True
    export = await a.node.store.export_instance(cluster.tenant, identity)
    await a.cancel(identity)
    await a.node.store.delete_instances(cluster.tenant, [identity])
    await a.node.store.import_instance(export)
    assert (await a.read(identity)).variables["other"] == BIG
    await cluster.check(b, identity)
