"""Base class for activities that poll until a condition holds.

    class PaymentArrived(Poll):
        order: str

        async def poll(self, context: Context) -> Any:
            return await bank.find_payment(self.order)

Nothing runs between two polls: the wait is a durable timer, and the activity's state is in the store. Each poll is a
separate effect on the activity's queue.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from holdfast.authoring.activity import Activity
from holdfast.authoring.fields import field, output
from holdfast.errors import ActivityTimeout
from holdfast.ports import Context

_STARTED = "polling_since"
_POLLS = "polls"


class Poll(Activity, abstract=True):
    """Calls `poll` every `interval` until `is_done` returns true. `result` is then the answer."""

    interval: timedelta = field(default=timedelta(seconds=10), kw_only=True)
    """Time between two polls."""
    give_up_after: timedelta | None = field(default=None, kw_only=True)
    """Maximum total time, after which the activity fails with a timeout. Default: no limit."""
    result: Any = output()
    """Answer of the last poll."""

    async def poll(self, context: Context) -> Any:
        """Poll once. An exception is a failed attempt, which `retry` handles."""
        raise NotImplementedError(f"{type(self).__name__} needs a method: async def poll(self, context)")

    def is_done(self, answer: Any) -> bool:
        """Whether the answer is final. Default: any true value."""
        return bool(answer)

    async def execute(self, context: Context) -> None:
        context.state.setdefault(_STARTED, context.now.isoformat())
        answer = await self.poll(context)
        context.state[_POLLS] = context.state.get(_POLLS, 0) + 1
        if self.is_done(answer):
            context.set_output("result", answer)
            context.complete()
            return
        due = context.now + self.interval
        since = datetime.fromisoformat(context.state[_STARTED])
        if self.give_up_after is not None and due > since + self.give_up_after:
            raise ActivityTimeout(context.activity_id, str(self.give_up_after))
        context.bookmark(name="poll", due=due, resume=self.ask_again, local=True)

    async def ask_again(self, context: Context, payload: Any) -> None:
        await self.execute(context)
