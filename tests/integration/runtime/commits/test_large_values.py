"""Large values rest in rows of their own: a commit writes what changed (rule H14)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from holdfast import Status, Workflow, activity, expr, wait_for, workflow
from holdfast.activities import Event, ForEach, Sequence, SetVariable
from holdfast.execution.lazy_values import LazyValue

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


@dataclass
class Order:
    number: int
    text: str


def records() -> list[Any]:
    return [{"number": number, "text": text} for number, text in enumerate(ITEMS * 3)]


def orders() -> list[Any]:
    return [Order(number, text) for number, text in enumerate(ITEMS * 3)]


@workflow
async def billing(kind: str) -> list[Any]:
    many = records() if kind == "records" else orders()
    total, last = 0, None
    for order in many:
        last = order
        total += await touch(order["text"] if kind == "records" else order.text)
    await wait_for("end")
    return [total, last is many[-1], len(many)]


class Weighed:
    """What each commit of a node writes of states and values."""

    def __init__(self, store: Any) -> None:
        self._store = store
        self._commit = store.commit
        self.sizes: list[int] = []

    async def commit(self, batch: Any) -> Any:
        self.sizes.extend(
            len(item.instance.state) + sum(len(value.data) for value in item.values_added)
            for item in batch
            if item.instance is not None
        )
        return await self._commit(batch)

    def __enter__(self) -> list[int]:
        self._store.commit = self.commit
        return self.sizes

    def __exit__(self, *_: object) -> None:
        self._store.commit = self._commit


async def test_items_of_a_loop_are_written_once(cluster: Any) -> None:
    a, b = await cluster.node("a"), await cluster.node("b", activities=[touch])
    with Weighed(a.store) as sizes:
        identity = (await a.start(looping(), {"items": ITEMS})).result.instance_id
        settled = await a.settle(identity)

    assert settled.variables["total"] == sum(map(len, ITEMS))
    assert sizes[0] > sum(map(len, ITEMS))
    assert max(sizes[1:]) < 2_000
    assert (await b.resume(identity)).status is Status.FINISHED
    await cluster.check(b, identity)


async def test_a_loop_reads_its_items_and_not_the_list_that_they_came_from(
    cluster: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    a = await cluster.node("a")
    read: list[LazyValue] = []
    whole = LazyValue.read

    def noted(self: LazyValue, types: Any) -> Any:
        read.append(self)
        return whole(self, types)

    monkeypatch.setattr(LazyValue, "read", noted)
    identity = (await a.start(looping(), {"items": ITEMS})).result.instance_id
    await a.settle(identity)

    assert not read
    await cluster.check(a, identity)


@pytest.mark.parametrize("kind", ["records", "orders"])
async def test_a_function_writes_the_list_that_it_goes_through_once(cluster: Any, kind: str) -> None:
    a, b = await cluster.node("a", types=[Order]), await cluster.node("b", activities=[touch], types=[Order])
    with Weighed(a.store) as sizes:
        identity = (await a.start(billing, {"kind": kind})).result.instance_id
        await a.settle(identity)

    assert sizes[0] > 3 * sum(map(len, ITEMS))
    assert max(sizes[1:]) < 2_000
    assert (await b.resume(identity)).outputs["result"] == [3 * sum(map(len, ITEMS)), True, 180]
    await cluster.check(b, identity)


async def test_what_looks_like_json_and_is_not_is_kept_all_the_same(cluster: Any) -> None:
    odd: list[Any] = [1 << 70, "\ud800", float("inf"), {"$t": "x"}] * 50
    many = [{"odd": item, "text": "x" * 90} for item in odd]
    workflow = Workflow(
        Sequence(
            SetVariable("kept", expr("[item for item in items]")),
            Event("end"),
            SetVariable("same", expr("kept == items")),
        ),
        inputs={"items": list},
        variables={"kept": [], "same": False},
    )
    a = await cluster.node("a")
    identity = (await a.start(workflow, {"items": many})).result.instance_id

    assert (await a.read(identity)).variables["kept"] == many
    assert (await a.resume(identity)).variables["same"] is True
    await cluster.check(a, identity)


async def test_variables_that_are_large_only_together_are_read_again(cluster: Any) -> None:
    a, b = await cluster.node("a"), await cluster.node("b")
    workflow = Workflow(
        Sequence(Event("one", result="left"), Event("two", result="right"), Event("three", result="both")),
        variables={"left": "", "right": "", "both": []},
    )
    identity = (await a.start(workflow)).result.instance_id
    await a.resume(identity, payload=BIG[:3_000])
    await b.resume(identity, payload=BIG[:3_001])

    assert len((await a.read(identity)).variables["right"]) == 3_001
    ended = await a.resume(identity, payload=[BIG[:3_000], BIG[:3_001]])
    assert [*map(len, ended.variables["both"])] == [3_000, 3_001]
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
        export = await a.store.export_instance(cluster.tenant, identity)
        return len(export.values)

    assert await values() == 0
    await b.resume(identity, payload=BIG)
    assert await values() == 1
    await a.resume(identity, payload=BIG)  # `kept` is emptied, `other` is the same content: the same row.
    assert await values() == 1
    assert (await b.read(identity)).variables["other"] == BIG
    moved = await b.resume(identity)
    assert moved.variables["same"] is True
    export = await a.store.export_instance(cluster.tenant, identity)
    await a.cancel(identity)
    await a.store.delete_instances(cluster.tenant, [identity])
    await a.store.import_instance(export)
    assert (await a.read(identity)).variables["other"] == BIG
    await cluster.check(b, identity)
