"""A workflow as a plain Python function: it runs, sleeps, moves between processes and can be drawn."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from datetime import timedelta

from holdfast import Holdfast, activity, parallel, wait_for, workflow
from holdfast.testing import doubles

LIMIT = 1_000


@dataclass
class Order:
    id: str
    total: int
    lines: list[str]


@dataclass
class Approval:
    approved: bool
    by: str = "timeout"


class Declined(Exception):
    """The order was not approved."""


@activity
async def fetch_order(order_id: str) -> Order:
    return Order(order_id, 1_500, ["lamp", "chair", "table"])


@activity
async def reserve(line: str) -> str:
    return f"{line} reserved"


@activity
async def charge(order: Order) -> str:
    return f"receipt for {order.id} over {order.total}"


@workflow
async def fulfil(order_id: str) -> str:
    """Processes an order from placement to payment."""
    order = await fetch_order(order_id)
    if order.total > LIMIT:
        answer = await wait_for(Approval, key=order_id, timeout=timedelta(days=3), default=Approval(approved=False))
        if not answer.approved:
            raise Declined(order.id, answer.by)
    async with parallel(limit=10) as branches:
        for line in order.lines:
            branches.start(reserve(line))
    return f"{', '.join(branches.results)}; {await charge(order)}"


async def durable() -> None:
    """Run it in one process, store its state as text, and continue in another."""
    result = await Holdfast().runner.run(fulfil, {"order_id": "7"})
    print(result.status, "for", result.bookmarks[0].payload)
    text = json.dumps(result.state)

    runner = Holdfast().runner
    result = runner.load(json.loads(text), fulfil)
    result = await runner.resume(result, result.bookmarks[0], {"approved": True, "by": "Ada"})
    print(result.status, result.outputs)


async def directly() -> None:
    """In a unit test, call it as a plain function."""
    with doubles(wait_for=lambda event, **options: Approval(approved=True, by="the test")):
        print(await fulfil("8"))


if __name__ == "__main__":
    asyncio.run(durable())
    asyncio.run(directly())
