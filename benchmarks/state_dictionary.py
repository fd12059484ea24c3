"""Training of the compression dictionary for small states and journals: `python -m benchmarks.state_dictionary FILE`.

The dictionary is trained on states and journals of many kinds of workflows with realistic data (orders, people, places,
requests) and shipped with the package. A codec byte names it, so a shipped dictionary must stay as long as data compressed
with it may be stored. Train a new one, under a new byte, when the format of states or journals changes.
"""

from __future__ import annotations

import asyncio
import random
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import zstandard

from benchmarks.store_databases import SQLITE, World, database, world
from holdfast import Activity, Workflow, expr
from holdfast.activities import (
    Delay,
    Event,
    ForEach,
    Fork,
    HumanTask,
    If,
    Parallel,
    Sequence,
    SetOutput,
    SetVariable,
    While,
)

SIZE = 16 * 1024
INSTANCES_EACH = 12
"""Number of instances per workflow."""

_FIRST = (
    "Anna",
    "Ben",
    "Carla",
    "David",
    "Eva",
    "Frank",
    "Grace",
    "Henry",
    "Ines",
    "Jack",
    "Kira",
    "Liam",
    "Maria",
    "Noah",
)
_LAST = (
    "Adams",
    "Brown",
    "Clark",
    "Davis",
    "Evans",
    "Fischer",
    "Garcia",
    "Hill",
    "Jones",
    "Klein",
    "Lopez",
    "Miller",
    "Novak",
)
_CITIES = (
    "Berlin",
    "London",
    "Paris",
    "Madrid",
    "Vienna",
    "Boston",
    "Denver",
    "Lisbon",
    "Oslo",
    "Prague",
    "Rome",
    "Sydney",
)
_STREETS = ("Main Street", "Park Avenue", "High Street", "Station Road", "Church Lane", "Mill Road", "King Street")
_NOTES = (
    "please call before delivery",
    "leave at the door",
    "urgent",
    "second reminder",
    "approved by manager",
    "needs review",
)


def _person(draw: random.Random) -> dict[str, Any]:
    first, last = draw.choice(_FIRST), draw.choice(_LAST)
    return {
        "id": draw.randrange(10**6),
        "name": f"{first} {last}",
        "email": f"{first}.{last}@example.com".lower(),
        "phone": f"+{draw.randrange(1, 99)} {draw.randrange(10**6, 10**9)}",
        "address": {"street": f"{draw.choice(_STREETS)} {draw.randrange(1, 300)}", "city": draw.choice(_CITIES),
                    "zip": f"{draw.randrange(10**5):05d}", "country": draw.choice(["DE", "US", "GB", "FR"])},
    }  # fmt: skip


def _order(draw: random.Random) -> dict[str, Any]:
    lines = [
        {"sku": f"SKU-{draw.randrange(10**5)}", "quantity": draw.randrange(1, 9),
         "count": draw.randrange(1, 9), "price": draw.randrange(100, 99999) / 100}
        for _ in range(draw.randrange(1, 4))
    ]  # fmt: skip
    return {
        "id": f"order-{draw.randrange(10**6)}",
        "number": f"{draw.randrange(2020, 2030)}-{draw.randrange(10**6):06d}",
        "customer": f"{draw.choice(_FIRST)} {draw.choice(_LAST)}",
        "status": draw.choice(["new", "open", "paid", "shipped", "pending", "approved", "rejected"]),
        "currency": draw.choice(["EUR", "USD", "GBP"]),
        "amount": draw.randrange(100, 10**6) / 100,
        "total": draw.randrange(100, 10**6),
        "lines": lines,
        "items": lines[:1],
    }


def _request(draw: random.Random) -> dict[str, Any]:
    return {
        "url": f"https://api.example.com/v{draw.randrange(1, 4)}/orders/{draw.randrange(10**6)}",
        "method": draw.choice(["GET", "POST", "PUT"]),
        "headers": {"content-type": "application/json", "authorization": "Bearer"},
        "created_at": _moment(draw), "updated_at": _moment(draw), "date": _moment(draw)[:10],
        "request_id": str(UUID(int=draw.getrandbits(128), version=4)),
    }  # fmt: skip


def _document(draw: random.Random) -> dict[str, Any]:
    return {
        "title": f"Invoice {draw.randrange(10**5)}", "type": draw.choice(["invoice", "contract", "report"]),
        "description": draw.choice(_NOTES), "comment": draw.choice(_NOTES), "message": draw.choice(_NOTES),
        "tags": draw.sample(["finance", "legal", "sales", "internal", "customer"], 2), "approved": draw.random() < 0.5,
        "user": draw.choice(_FIRST).lower(), "value": draw.randrange(10**4), "key": f"key-{draw.randrange(10**4)}",
        "data": None, "error": None, "result": True,
    }  # fmt: skip


def _moment(draw: random.Random) -> str:
    return (datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=draw.randrange(10**7))).isoformat()


_DATA: tuple[tuple[str, Callable[[random.Random], Any]], ...] = (
    ("order", _order), ("customer", _person), ("request", _request), ("document", _document), ("user", _person),
    ("payment", _order), ("person", _person), ("invoice", _document), ("message", _document), ("data", _request),
)  # fmt: skip


def _before(number: int) -> list[Activity]:
    """Activities before the wait; cycles through all shapes."""
    step = SetVariable("count", expr("count + 1"))
    named = SetVariable("status", expr('"open"'))
    shapes: tuple[list[Activity], ...] = (
        [step],
        [step, named, SetVariable("result", expr("count * 2"))],
        [If(expr("count > 1"), step, named)],
        [ForEach([1, 2, 3], Sequence(step, named))],
        [While(expr("count < 2"), Sequence(step))],
        [Parallel(step, named)],
        [Sequence(step, Sequence(named))],
        [SetOutput("result", expr("count")), step],
        [SetVariable("status", expr(f'"step {place}"')) for place in range(10)],
    )
    return shapes[number % len(shapes)]


def _wait(number: int, name: str) -> Activity:
    shapes = (
        Event(expr(f'"paid " + str({name})[:20]')),
        Delay(timedelta(days=2)),
        HumanTask("Approve", assignee="anna"),
        Parallel(Event("approved"), Event("rejected")),
        Fork(Event("shipped"), Delay(timedelta(hours=8))),
        Sequence(Event("payment"), SetVariable("status", expr('"paid"'))),
    )
    return shapes[number % len(shapes)]


def workflows() -> list[tuple[Workflow, str, Callable[[random.Random], Any]]]:
    """Each workflow with the name of its input and a factory for it."""
    found = []
    for number in range(9 * 6):
        name, make = _DATA[number % len(_DATA)]
        steps = [*_before(number), *([] if number % 7 == 6 else [_wait(number // 9, name)])]
        variables: dict[str, Any] = {"count": 0, "status": "new", "result": None}
        made = Workflow(
            Sequence(*steps), id=f"train-{number}", inputs={name: dict}, outputs={"result": Any}, variables=variables
        )
        found.append((made, name, make))
    return found


async def samples(here: World) -> list[bytes]:
    """Encoded states and journals, before compression."""
    draw = random.Random(1)
    found: list[bytes] = []
    for workflow, name, make in workflows():
        for _ in range(INSTANCES_EACH):
            answer = await here.runtime.start(workflow, {name: make(draw)})
            assert answer.result is not None
            row = await here.runtime.row(answer.result.instance_id)
            found.append(row.state)
            found += [segment.data for segment in await here.store.read_journal(row.tenant, row.id)]
    return found


def train() -> bytes:
    async def gathered(url: Any) -> list[bytes]:
        async with world(url) as here:
            return await samples(here)

    with database(SQLITE) as place:
        found = asyncio.run(gathered(place))
    made: bytes = zstandard.train_dictionary(SIZE, [*found], level=3).as_bytes()
    return made


if __name__ == "__main__":
    Path(sys.argv[1]).write_bytes(train())
