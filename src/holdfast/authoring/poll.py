"""A base for activities that ask again and again until something is so.

    class PaymentArrived(Poll):
        order: str

        async def poll(self, context: Context) -> Any:
            return await bank.find_payment(self.order)

Between two questions nothing runs: the wait is a durable timer, and what the activity remembers is in the store. Each question
is an effect of its own, on the queue that the activity names.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from holdfast.authoring.activity import Activity
from holdfast.authoring.fields import field, output
from holdfast.errors import ActivityTimeout
from holdfast.ports import Context

_STARTED = "polling_since"
_ASKED = "polls"


class Poll(Activity, abstract=True):
    """Asks `poll` every `interval` until `is_done` says yes; then `result` is the answer."""

    interval: timedelta = field(default=timedelta(seconds=10), kw_only=True)
    give_up_after: timedelta | None = field(default=None, kw_only=True)
    """How long in all; then it fails with a timeout. None asks for ever."""
    result: Any = output()

    async def poll(self, context: Context) -> Any:
        """Ask once. What it raises is a failed attempt: `retry` says what follows."""
        raise NotImplementedError(f"{type(self).__name__} needs a method: async def poll(self, context)")

    def is_done(self, answer: Any) -> bool:
        """Whether that is the answer; by default anything that counts as true."""
        return bool(answer)

    async def execute(self, context: Context) -> None:
        context.state.setdefault(_STARTED, context.now.isoformat())
        answer = await self.poll(context)
        context.state[_ASKED] = context.state.get(_ASKED, 0) + 1
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
