"""A plugin: an activity with outcomes and its own bookmark, a service, and middleware around both."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from holdfast import Activity, Context, Holdfast, Workflow, output
from holdfast.activities import Flowchart, WriteLine
from holdfast.api import MiddlewarePlacement
from holdfast.ports import Registration


class Directory:
    """Selects the approver for an amount."""

    def approver(self, amount: int) -> str:
        return "Grace" if amount > 1000 else "Ada"


class Approve(Activity, pure=True, outcomes=("Approved", "Refused"), category="People"):
    """Waits for the decision of the responsible person."""

    amount: int
    decided_by: str = output()

    def execute(self, context: Context) -> None:
        person = context.service(Directory).approver(self.amount)
        context.bookmark({"person": person}, resume=self.decided)
        context.journal(f"waits for {person}")

    def decided(self, context: Context, payload: dict[str, Any]) -> None:
        context.set_output("decided_by", payload["person"])
        context.complete("Approved" if payload["yes"] else "Refused")


class Trace:
    def around(self, context: Any, proceed: Callable[[], None]) -> None:
        proceed()
        print(f"  {context.phase} {context.activity_id}: {context.status}")


class PeoplePlugin:
    name = "people"
    needs = ("holdfast",)

    def register(self, registration: Registration) -> None:
        registration.activity(Approve)
        registration.service(Directory, Directory())
        registration.middleware(
            MiddlewarePlacement(name="trace", middleware=Trace(), before="faults", types=("Approve",))
        )


approve = Approve(amount=1200, decided_by="person", id="approve")
purchase = Workflow(
    Flowchart(
        approve,
        connections=[
            approve.on("Approved") >> WriteLine("Bought"),
            approve.on("Refused") >> WriteLine("Not bought"),
        ],
    ),
    id="purchase",
    variables={"person": ""},
)


async def main() -> None:
    runner = Holdfast(plugins=[PeoplePlugin()]).runner
    waiting = await runner.run(purchase, on_line=print)
    bookmark = waiting.bookmark("approve")
    print(waiting.status, bookmark.payload)
    result = await runner.resume(waiting, bookmark, {"yes": True, "person": "Grace"}, on_line=print)
    print(result.status, result.variables)


if __name__ == "__main__":
    asyncio.run(main())
