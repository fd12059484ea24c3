"""Workflows of the test of wide instances: each has hundreds of branches at once. `holdfast worker` imports this module."""

from __future__ import annotations

from typing import Any

from holdfast import activity, gather, parallel, run_child, wait_for, workflow


@activity
async def doubled(number: int) -> int:
    return 2 * number


@activity(queue="default")
async def carried(number: int) -> int:
    return 2 * number


@activity
async def priced(order: dict[str, Any]) -> int:
    return 2 * int(order["number"])


@workflow
async def wide_child(number: int) -> int:
    return await doubled(number)


@workflow
async def wide_effects(count: int) -> int:
    return sum(await gather(*[doubled(number) for number in range(count)]))


@workflow
async def wide_steps(count: int) -> int:
    return sum(await gather(*[carried(number) for number in range(count)]))


@workflow
async def wide_records(count: int) -> int:
    orders = [{"number": number, "lines": [number]} for number in range(count)]
    return sum(await gather(*[priced(order) for order in orders]))


@workflow
async def wide_children(count: int) -> int:
    return sum(await gather(*[run_child(wide_child, number) for number in range(count)]))


@workflow
async def wide_parallel(count: int) -> int:
    async with parallel(limit=300) as calls:
        for number in range(count):
            calls.start(doubled(number))
    return sum(calls.results)


@workflow
async def wide_events(count: int, name: str) -> int:
    return sum(await gather(*[wait_for("wide", key=f"{name}-{number}") for number in range(count)]))
