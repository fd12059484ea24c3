"""Preconditions: `can_execute` of a class activity, checked in the segment before `execute` runs.

While it is false the activity waits at a bookmark of its type with the payload `PENDING`. A resume of the bookmark evaluates
the inputs and the precondition again. Activities without `can_execute` compile to `ObjectActivity`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holdfast.errors import ActivityDeclarationError
from holdfast.execution.activation import Activation
from holdfast.execution.invoke import ObjectActivity, evaluate_all
from holdfast.execution.record import NewBookmark, Record
from holdfast.model import values
from holdfast.model.instance import Bookmark, JournalEvent

if TYPE_CHECKING:
    from holdfast.execution.live import LiveInstance

PENDING = {"can_execute": False}
"""Payload of the bookmark."""
_CHECK = "can_execute"
"""Callback of the bookmark."""


class PreconditionedActivity(ObjectActivity):
    def call(self, live: LiveInstance, activation: Activation, method: str, argument: Any) -> None:
        if method == "execute" and not self._can_execute(live, activation):
            live.note(JournalEvent.LOGGED, activation, {"message": "Precondition failed", "data": None})
            live.bookmark(activation, NewBookmark(payload=PENDING, callback=_CHECK))
            return
        super().call(live, activation, method, argument)

    def resume(self, live: LiveInstance, activation: Activation, bookmark: Bookmark, payload: Any) -> None:
        if bookmark.callback != _CHECK:
            super().resume(live, activation, bookmark, payload)
            return
        activation.data["inputs"] = evaluate_all(self.inputs, activation.outer)
        self.call(live, activation, "execute", None)

    def _can_execute(self, live: LiveInstance, activation: Activation) -> bool:
        context = self._context(live, activation)
        context.state = values.copy(context.state)
        target = self.bound(activation.data["inputs"], activation.outer)
        context._activity = target
        answer: Any = target.can_execute(context)
        changed = context.record != Record() or context.state != activation.data["state"]
        if changed or not isinstance(answer, bool):
            raise ActivityDeclarationError(
                f"can_execute of {self.node.definition.type} must return True or False and only read its context. "
                "Move everything else to execute."
            )
        return answer
