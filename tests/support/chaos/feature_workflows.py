"""Workflows of the feature chaos test: home queues, limits per value, large variables, middleware, starts in a transaction.

`holdfast worker` runs the engine `app` of this module. Its activities write when they begin and end, with the role of their
worker, into the log of `cancel_workflows`.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from holdfast import Context, Holdfast, Workflow, activity, expr, workflow
from holdfast.activities import Delay, Sequence
from holdfast.api import MiddlewarePlacement
from tests.support.chaos.cancel_workflows import LOG, Line, write

ROLE = "HOLDFAST_TEST_ROLE"
HOME, MAIL = "home", "mail"
ROWS, PRICED = 2_000, 6
"""Items of the large variable, and effects that change it."""
SOON = "PT0.02S"
FILLED_IN: Any = None
"""Holdfast fills in the context; the default is for the calls in workflows."""


async def _call(context: Context, what: str, seconds: float = 0.02) -> None:
    path, pid = Path(os.environ[LOG]), os.getpid()
    write(path, Line("+", pid, context.instance_id, f"{what}@{os.environ.get(ROLE, '')}"))
    await asyncio.sleep(seconds)
    write(path, Line("-", pid, context.instance_id, f"{what}@{os.environ.get(ROLE, '')}"))


@activity(name="FeatureCall")
async def call(context: Context, what: str) -> None:
    await _call(context, what)


@activity(name="FeatureServe")
async def serve(context: Context, customer: str) -> None:
    await _call(context, f"serve-{customer}", 0.05)


@activity(name="FeaturePrice")
async def price(number: int, context: Context = FILLED_IN) -> int:
    await _call(context, f"price-{number}")
    return number * 3


at_home = Workflow(
    Sequence(call.bind(what="first"), Delay(SOON), call.bind(what="second"), id="all"), id="feature_at_home"
)
limited = Workflow(serve.bind(customer=expr("customer"), queue=MAIL), inputs={"customer": str}, id="feature_limited")


@workflow(id="feature_large")
async def large(rows: int, priced: int) -> dict[str, Any]:
    orders: list[Any] = [{"id": number, "text": f"order {number} " * 4, "price": 0} for number in range(rows)]
    for number in range(priced):
        orders[number]["price"] = await price(number)
        orders.append({"id": -number, "text": "more", "price": 1})
    return {"rows": len(orders), "sum": sum(order["price"] for order in orders), "last": orders[-1]["id"]}


LARGE_RESULT = {"rows": ROWS + PRICED, "sum": 3 * sum(range(PRICED)) + PRICED, "last": 1 - PRICED}


@workflow(id="feature_ordered")
async def ordered(number: int) -> int:
    return await price(number)


class Around:
    """Middleware of all kinds. It marks each attempt of an effect before the effect begins."""

    def around(self, context: Any, proceed: Callable[[], None]) -> None:
        proceed()

    def around_workflow(self, context: Any, proceed: Callable[[], None]) -> None:
        proceed()

    async def around_effect(self, context: Any, proceed: Callable[[], Awaitable[Any]]) -> Any:
        write(Path(os.environ[LOG]), Line("~", os.getpid(), context.instance_id, context.activity_id))
        return await proceed()


app = Holdfast(
    entry_points=False,
    activities=[call, serve, price],
    workflows=[large, ordered],
    definitions=[at_home, limited],
    middleware=[MiddlewarePlacement(name="around", middleware=Around())],
)
