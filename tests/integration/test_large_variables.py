"""Large variables of functions: the same result from memory and from the pages of every store, and no page is left behind."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast import Holdfast, Status, Store, activity, parallel, workflow
from holdfast.runtime.commits.instance_cache import InstanceCache
from tests.support.stored_pages import check_pages


@activity
async def priced(order: dict[str, Any]) -> int:
    order["price"] = "changed by the activity"  # its argument is a value: the workflow must not see this
    return int(order["id"]) * 2


@workflow
async def report(count: int, effects: int) -> dict[str, Any]:
    orders: list[Any] = [{"id": number, "customer": f"customer {number}", "lines": [number]} for number in range(count)]
    idle = {number: f"text {number}" for number in range(count)}
    prices: dict[str, int] = {}
    done = [{"id": -1, "customer": "nobody in particular"} for _ in range(count)]
    last = orders[0]
    for number, order in enumerate(orders):
        if number == effects:
            break
        prices[f"order {order['id']}"] = await priced(order)
        done.append({"id": await priced(orders[-1])})
        order["lines"].append(number)
        last["next"] = number
        last = order
        orders[0]["seen"] = len(done)
        idle.pop(number)
    async with parallel(limit=3) as branches:
        for order in orders[:20]:
            branches.start(priced(order))
    return {
        "prices": prices,
        "orders": orders,
        "done": done[count:],
        "idle": list(idle),
        "all": sum(branches.results),
        "same": last is orders[effects - 1],
    }


async def outcome(store_url: str, count: int, effects: int) -> dict[str, Any]:
    store = Store.from_url(store_url)
    await store.open()
    try:
        async with Holdfast(activities=[priced], entry_points=False).runtime_on(store) as runtime:
            started = await runtime.start(report, {"count": count, "effects": effects})
            assert started.result is not None
            ended = await runtime.settle(started.result.instance_id)
            assert ended.status is Status.FINISHED
            found: dict[str, Any] = ended.outputs["result"]
            return found
    finally:
        await store.close()


def expected(count: int, effects: int) -> dict[str, Any]:
    orders: list[dict[str, Any]] = [
        {"id": number, "customer": f"customer {number}", "lines": [number]} for number in range(count)
    ]
    last = orders[0]
    for number, order in enumerate(orders[:effects]):
        order["lines"].append(number)
        last["next"] = number
        last = order
        orders[0]["seen"] = count + number + 1
    return {
        "prices": {f"order {number}": 2 * number for number in range(effects)},
        "orders": orders,
        "done": [{"id": 2 * (count - 1)} for _ in range(effects)],
        "idle": list(range(effects, count)),
        "all": sum(2 * number for number in range(20)),
        "same": True,
    }


async def test_a_function_with_large_variables_gives_the_same_result_on_every_store(store_url: str) -> None:
    assert await outcome(store_url, 400, 40) == expected(400, 40)


async def test_values_that_are_not_in_memory_are_read_from_their_pages(
    store_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(InstanceCache, "take_heap", lambda self, key, version: None)
    assert await outcome(store_url, 400, 20) == expected(400, 20)


async def test_the_store_has_the_pages_of_the_state_and_no_others(store_url: str) -> None:
    """Of each commit, as the commits of the store tell it."""
    store = Store.from_url(store_url)
    await store.open()
    roots = check_pages(store)
    try:
        async with Holdfast(activities=[priced], entry_points=False).runtime_on(store) as runtime:
            started = await runtime.start(report, {"count": 300, "effects": 30})
            assert started.result is not None
            await runtime.settle(started.result.instance_id)
    finally:
        await store.close()
    assert max(roots) >= 2
    assert roots[-1] == 0
