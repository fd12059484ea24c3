"""Preconditions: `can_execute` of a class activity, checked in the segment before `execute` runs.

While it is false the activity waits at a bookmark of its type with the payload `PENDING`. A resume of the bookmark evaluates
the inputs and the precondition again (`invoke.PreconditionedActivity`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holdfast.errors import ActivityDeclarationError
from holdfast.execution.context import RecordingContext
from holdfast.execution.record import NewBookmark, Record
from holdfast.model import values
from holdfast.model.instance import JournalEvent

if TYPE_CHECKING:
    from holdfast.execution.activation import Activation
    from holdfast.execution.live import LiveInstance

PENDING = {"can_execute": False}
"""Payload of the bookmark."""
CHECK = "can_execute"
"""Callback of the bookmark."""


def holds(target: Any, context: RecordingContext) -> bool:
    """Call `can_execute` of the author's object. Raises `ActivityDeclarationError` if it does more than answer."""
    before = context.state
    context.state = values.copy(before)
    answer: Any = target.can_execute(context)
    if context.record != Record() or context.state != before or not isinstance(answer, bool):
        raise ActivityDeclarationError(
            f"can_execute of {type(target).__name__} must return True or False and only read its context. "
            "Move everything else to execute."
        )
    return answer


def wait(live: LiveInstance, activation: Activation) -> None:
    live.note(JournalEvent.LOGGED, activation, {"message": "Precondition failed", "data": None})
    live.bookmark(activation, NewBookmark(payload=PENDING, callback=CHECK))
