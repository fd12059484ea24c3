"""A saga: compensations undo completed work in reverse order after a fault."""

from __future__ import annotations

import asyncio

from holdfast import Activity, Holdfast, Workflow, expr
from holdfast.activities import Compensable, Compensate, Fault, Sequence, Try, WriteLine


def booked(what: str) -> Activity:
    return Compensable(body=WriteLine(f"{what} booked"), compensation=WriteLine(f"{what} given back"))


trip = Workflow(
    Try(
        body=Sequence(booked("Flight"), booked("Hotel"), Fault("no car left")),
        catches=[
            {
                "errors": ["ActivityFault"],
                "activity": Sequence(WriteLine(expr("'Failed: ' + Error['message']")), Compensate()),
            }
        ],
        finally_=WriteLine("Told the traveler"),
    ),
    id="trip",
)


async def main() -> None:
    result = await Holdfast().runner.run(trip, on_line=print)
    print(result.status)


if __name__ == "__main__":
    asyncio.run(main())
