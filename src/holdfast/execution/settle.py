"""Settlement: decides the status of an instance whose queue is empty, and reports stuck instances as incidents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holdfast.execution.activation import FAULTED
from holdfast.model.instance import Incident, JournalEvent, Status
from holdfast.model.scope import FIRST_SLOT
from holdfast.model.values import copy

if TYPE_CHECKING:
    from holdfast.execution.live import LiveInstance
    from holdfast.execution.plan import Node

RUNNING, SUSPENDED = Status.RUNNING, Status.SUSPENDED
FINISHED, CANCELED, CANCELING = Status.FINISHED, Status.CANCELED, Status.CANCELING
"""Module constants: before Python 3.12, reading an enum member costs as much as a call."""

EVENTS = {
    SUSPENDED.word: JournalEvent.INSTANCE_SUSPENDED.value,
    FINISHED.word: JournalEvent.INSTANCE_FINISHED.value,
    Status.FAULTED.word: JournalEvent.INSTANCE_FAULTED.value,
    CANCELED.word: JournalEvent.INSTANCE_CANCELED.value,
    CANCELING.word: JournalEvent.INSTANCE_CANCELING.value,
}


def settle(live: LiveInstance) -> None:
    """Decide the status after the queue has run empty."""
    status = _status(live)
    if status is SUSPENDED:
        _forget_transient(live)
        if _is_stuck(live):
            _explain(live)
    if status is live.status:
        return
    live.status = status
    event = EVENTS.get(status.word)
    if event is not None:
        live.note(event, None, {"cause": live.stopping} if status in (CANCELED, CANCELING) else None)


def _status(live: LiveInstance) -> Status:
    if live.effects or live.ending or live.child_starts or live.cleanup.kids or live.cleanup.data:
        if live.stopping is not None:
            return CANCELING
        # A cleanup that waits at a bookmark suspends the instance too.
        waits = live.bookmarks and not live.effects and not live.ending and not live.child_starts
        return SUSPENDED if waits else RUNNING
    if live.stopping is not None:
        return CANCELED
    if live.fault_pending or live.root.status == FAULTED:
        return Status.FAULTED
    if live.root.status:
        return FINISHED
    return SUSPENDED


def _is_stuck(live: LiveInstance) -> bool:
    """Whether nothing can resume the instance and no incident reports it yet."""
    return not live.bookmarks and not live.effects and not live.child_starts and not live.incidents


def _explain(live: LiveInstance) -> None:
    reasons: list[str] = []
    for item in [live.root, *live.root.descendants()]:
        explain = item.node.hooks.explain
        if explain is not None:
            reasons.extend(explain(live, item))
    if not reasons:
        leaves = [item for item in live.root.descendants() if not item.kids]
        reasons = [f"'{item.node.key}' ({item.node.definition.type}) neither completed nor waits." for item in leaves]
    text = " ".join(reasons)
    raise_incident(
        live,
        "stuck",
        f"Nothing can resume this instance. {text} Cancel it, or schedule the missing activity.",
        {"waiting": reasons},
    )


def stop_runaway(live: LiveInstance, node: Node, activities: int) -> None:
    """Stop an endless loop: clear the queue and raise an incident."""
    text = f"{activities:,} activities ran without waiting for anything; the last was '{node.key}'."
    raise_incident(
        live, "runaway", f"{text} Add an exit condition, a Delay or an effect to the loop.", {"activity": node.key}
    )
    live.queue.clear()
    live.waited_at = live.sequence
    live.fault_pending = True
    live.canceled_effects.update(live.effects)
    live.effects.clear()
    live.new_effects.clear()


def raise_incident(live: LiveInstance, kind: str, message: str, details: dict[str, Any]) -> None:
    incident = Incident(
        id=f"{live.id}-{kind}-{live.sequence}", type=kind, message=message, at=live.moment(), details=details
    )
    live.incidents.append(incident)
    live.note(JournalEvent.INCIDENT, None, {"type": kind, "message": message})


def _forget_transient(live: LiveInstance) -> None:
    """Reset in-memory variables to their defaults when the instance suspends."""
    if not live.plan.transient_shapes:
        return
    for item in [live.root, *live.root.descendants()]:
        level: Any = item.scope
        while isinstance(level, list):
            for index in level[1].transient:
                level[index] = copy(level[1].defaults[index - FIRST_SLOT])
            level = level[0]
