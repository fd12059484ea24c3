"""Large variables that share objects: the same result as in the runner, from memory and from the pages of every store."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from holdfast import Holdfast, Status, Store, activity, parallel, workflow
from holdfast.runtime.commits.instance_cache import InstanceCache
from tests.support.stored_pages import check_pages


@activity
async def doubled(number: int) -> int:
    return 2 * number


@activity
async def billed(order: dict[str, Any]) -> int:
    order["amount"] = "changed by the activity"  # its argument is a value: the workflow must not see this
    return int(order["id"])


@dataclass
class Customer:
    name: str
    orders: int = 0


@dataclass
class Desk:
    log: list[str]
    customers: dict[str, Customer]
    total: int = 0


@workflow
async def trade(count: int, effects: int) -> dict[str, Any]:
    desk = Desk(
        [f"line {number}" for number in range(count)], {f"c{number}": Customer(f"c{number}") for number in range(count)}
    )
    orders: list[Any] = [
        {"id": number, "amount": number, "customer": desk.customers[f"c{number}"]} for number in range(count)
    ]
    index: dict[int, Any] = {order["id"]: order for order in orders}
    report = "a line of a long report, " * (2 * count)
    for number in range(effects):
        orders.append({"id": count + number, "amount": await doubled(number), "customer": desk.customers["c1"]})
        index[count + number] = orders[-1]
        index[number]["amount"] += 1
        desk.log.append(f"order {number}")
        desk.customers["c1"].orders += 1
        desk.total += await billed(index[count + number])
    seen: list[int] = []
    for key, order in index.items():
        if len(seen) == effects:
            break
        seen.append(key + await doubled(order["amount"]))
    async with parallel(limit=3) as branches:
        for order in orders[:20]:
            branches.start(billed(order))
    return {
        "shared": all(index[order["id"]] is order for order in orders),
        "customers": all(order["customer"] is desk.customers[order["customer"].name] for order in orders),
        "amounts": [order["amount"] for order in orders],
        "log": desk.log[count:],
        "counts": [desk.total, desk.customers["c1"].orders, len(index), len(report), sum(branches.results)],
        "seen": seen,
    }


def expected(count: int, effects: int) -> dict[str, Any]:
    amounts = [number + (number < effects) for number in range(count)] + [2 * number for number in range(effects)]
    return {
        "shared": True,
        "customers": True,
        "amounts": amounts,
        "log": [f"order {number}" for number in range(effects)],
        "counts": [sum(range(count, count + effects)), effects, count + effects, 50 * count, sum(range(20))],
        "seen": [number + 2 * amounts[number] for number in range(effects)],
    }


def holdfast() -> Holdfast:
    return Holdfast(activities=[doubled, billed], types=[Customer, Desk], entry_points=False)


async def outcome(store_url: str, count: int, effects: int) -> dict[str, Any]:
    store = Store.from_url(store_url)
    await store.open()
    try:
        async with holdfast().runtime_on(store) as runtime:
            started = await runtime.start(trade, {"count": count, "effects": effects})
            assert started.result is not None
            ended = await runtime.settle(started.result.instance_id)
            assert ended.status is Status.FINISHED, ended
            found: dict[str, Any] = ended.outputs["result"]
            return found
    finally:
        await store.close()


async def test_shared_objects_stay_shared_on_every_store(store_url: str) -> None:
    assert await outcome(store_url, 150, 10) == expected(150, 10)


async def test_shared_objects_are_read_from_their_pages(store_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(InstanceCache, "take_heap", lambda self, key, version: None)
    assert await outcome(store_url, 150, 6) == expected(150, 6)


async def test_the_store_has_the_pages_of_shared_objects_and_no_others(store_url: str) -> None:
    store = Store.from_url(store_url)
    await store.open()
    roots = check_pages(store)
    try:
        async with holdfast().runtime_on(store) as runtime:
            started = await runtime.start(trade, {"count": 150, "effects": 6})
            assert started.result is not None
            await runtime.settle(started.result.instance_id)
    finally:
        await store.close()
    assert max(roots) >= 4
    assert roots[-1] == 0
