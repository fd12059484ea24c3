"""Workflows of the stored data.

The store keeps the source text of these functions and the public names of these classes. Do not edit the body of a function,
a class or this module's path: the stored instances run exactly this text.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from enum import Enum
from typing import Any
from uuid import UUID

from holdfast import (
    Activity,
    Context,
    OnLost,
    Retry,
    Status,
    Workflow,
    activity,
    ask,
    compensate,
    first,
    gather,
    output,
    parallel,
    run_child,
    sleep,
    wait_for,
    workflow,
)
from holdfast.errors import HoldfastError, NoResult

FAR = datetime(2126, 1, 1, tzinfo=UTC)


class World:
    """The outside world: the generator and the test set how effects behave."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self.mended = False
        """Whether `flaky` works."""
        self.stuck = False
        """Whether effects block until their process is killed."""
        self.begun: Callable[[], None] = lambda: None
        """Called when an effect blocks."""
        self.calls: list[str] = []

    async def call(self, name: str) -> None:
        self.calls.append(name)
        if self.stuck:
            self.begun()
            await asyncio.Event().wait()


world = World()


# -- values ------------------------------------------------------------------------------------------------------------


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


@dataclass
class Item:
    name: str
    price: Decimal
    colour: Colour
    made: datetime


@dataclass
class Basket:
    id: UUID
    items: list[Item]


@dataclass
class Approval:
    approved: bool
    by: str = "unknown"


@dataclass
class Strict:
    """An event with a constraint that the test lifts."""

    amount: int

    def __post_init__(self) -> None:
        if self.amount < 0 and not world.mended:
            raise ValueError("amount must not be negative")


BASKET = Basket(
    UUID("12345678-1234-5678-1234-567812345678"),
    [
        Item("lamp", Decimal("19.90"), Colour.RED, datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)),
        Item("rope", Decimal("4.10"), Colour.BLUE, datetime(2026, 1, 2, 3, 4, 6, tzinfo=UTC)),
    ],
)


class OutOfStock(Exception):
    """Raised by `reserve`."""


# -- activities --------------------------------------------------------------------------------------------------------


@activity
async def charge(order: str) -> str:
    await world.call("charge")
    return f"{order} charged"


@activity(on_lost=OnLost.HOLD)
async def capture(order: str) -> str:
    await world.call("capture")
    return f"{order} captured"


@activity(retry=Retry(attempts=2, delay=timedelta(milliseconds=1)))
async def flaky(order: str) -> str:
    if not world.mended:
        raise OutOfStock(order)
    return f"{order} reserved"


@activity(queue="elsewhere")
async def pack(order: str) -> str:
    return f"{order} packed"


@activity
async def refund(order: str) -> None:
    world.calls.append(f"refund {order}")


class Knock(Activity, pure=True, trigger=True):
    """An activity class: waits for a knock at a door, and may be started by one."""

    door: str
    answer: str = output()

    def execute(self, context: Context) -> None:
        if context.is_trigger:
            context.set_output("answer", context.trigger_payload)
            context.complete()
        else:
            context.bookmark({"door": self.door}, resume=self.opened)

    def trigger_payloads(self) -> list[dict[str, str]]:
        return [{"door": self.door}]

    def opened(self, context: Context, payload: Any) -> None:
        context.set_output("answer", payload)
        context.complete()


def knocking(door: str) -> Workflow:
    """The code definition `knocking`: each door is another version."""
    return Workflow(Knock(door, answer="answer", can_start=True), id="knocking", variables={"answer": ""})


def holding() -> Workflow:
    """The code definition `holding`: its variables are of many types."""
    return Workflow(
        Knock("vault", answer="answer"),
        id="holding",
        variables={
            "answer": "",
            "basket": BASKET,
            "colour": Colour.BLUE,
            "price": Decimal("1.50"),
            "moment": BASKET.items[0].made,
            "span": timedelta(minutes=3),
            "raw": b"\x00\xff",
            "long": [f"line {number}" for number in range(600)],
        },
    )


# -- workflow functions ------------------------------------------------------------------------------------------------


@workflow
async def approving(basket: Basket, note: str) -> dict[str, Any]:
    total = sum((item.price for item in basket.items), Decimal(0))
    cheapest = min(basket.items, key=lambda item: item.price)
    long = [f"{note} {number}" for number in range(600)]
    policy, status = Retry(attempts=3, delay=timedelta(seconds=2)), Status.SUSPENDED
    kinds = {Colour.RED: {1, 2}, Colour.BLUE: {3}}
    raw, moment, shared = b"\x00\xff", datetime(2026, 2, 3, 4, 5, tzinfo=UTC), [cheapest, cheapest]
    try:
        raise NoResult("none", "pending", "for the test")
    except HoldfastError as error:
        caught = error
    answer = await wait_for(Approval, key=str(basket.id), timeout=timedelta(days=36_500))
    shared[0].name = "same object"
    return {
        "approved": [answer.approved, answer.by],
        "total": total,
        "cheapest": [shared[1].name, cheapest.colour, cheapest.made],
        "long": [len(long), long[-1]],
        "policy": [policy.attempts, policy.delay],
        "status": status is Status.SUSPENDED,
        "kinds": sorted(kinds[Colour.RED]),
        "raw": raw,
        "moment": moment,
        "caught": [type(caught) is NoResult, str(caught)],
    }


@workflow
async def reminding(until: datetime) -> str:
    await sleep(until)
    return "reminded"


@workflow
async def part(name: str) -> str:
    answer = await wait_for("part", key=name)
    return f"{name}: {answer}"


@workflow
async def whole(names: list[str]) -> list[str]:
    return await gather(*[run_child(part, name) for name in names])


@workflow
async def charging(order: str) -> str:
    return await charge(order)


@workflow
async def capturing(order: str) -> str:
    return await capture(order)


@workflow
async def reserving(order: str) -> str:
    return await flaky(order)


@workflow
async def packing(order: str) -> str:
    return await pack(order)


@workflow
async def asking(order: str) -> list[Any]:
    answer = await ask("role:boss", form=Approval, about={"order": order}, title="Approve the order")
    return [answer.approved, answer.by]


@workflow
async def in_order() -> list[Any]:
    one = await wait_for("one")
    two = await wait_for("two")
    return [one, two]


@workflow
async def announced() -> int:
    found = await wait_for(Strict, broadcast=True)
    return found.amount


@workflow
async def touring(stops: list[str]) -> dict[str, Any]:
    seen, ended = [], ""
    try:
        for number, stop in enumerate(stops):
            await compensate(refund(stop))
            if number == 1:
                seen.append(await first(wait_for("next"), sleep(FAR)))
            else:
                seen.append(stop)
    finally:
        ended = await charge("tour")
    async with parallel(limit=2) as branches:
        for stop in stops:
            branches.start(charge(stop))
    return {"seen": [str(item) for item in seen], "ended": ended, "branches": branches.results}


@workflow
async def branching(stops: list[str]) -> list[str]:
    async with parallel() as branches:
        for stop in stops:
            branches.start(charge(stop))
    answer = await wait_for("next")
    return [*branches.results, str(answer)]


FUNCTIONS = (
    approving, reminding, part, whole, charging, capturing, reserving, packing, asking, in_order, announced, touring, branching,
)  # fmt: skip
