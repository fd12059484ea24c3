"""What reaches an instance from outside: its start, a resumed bookmark, the result of an effect, a retry, a cancellation.

Each changes the live instance and leaves work in its queue; the next segment goes on from there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from holdfast.errors import (
    ActivityTimeout,
    BookmarkNotFound,
    ExecutionError,
    InstanceAtRest,
    PayloadRefused,
    UnknownValueType,
)
from holdfast.execution import cancellation, faults, operator_actions
from holdfast.execution.activation import Activation
from holdfast.execution.live import LiveInstance
from holdfast.execution.plan import PASSED, Plan
from holdfast.execution.record import EffectFailure, Record
from holdfast.model import values
from holdfast.model.hashing import stimulus_hash
from holdfast.model.instance import Bookmark, BookmarkKind, JournalEvent, Status
from holdfast.ports import Services

PENDING_STATUS, RUNNING_STATUS = Status.PENDING, Status.RUNNING
INSTANCE_STARTED = JournalEvent.INSTANCE_STARTED.value
EFFECT_RESULT = JournalEvent.EFFECT_RESULT.value
RESUMED = JournalEvent.RESUMED.value
_RETRY, _TIMEOUT = BookmarkKind.RETRY, BookmarkKind.TIMEOUT


def start(
    plan: Plan,
    *,
    id: str,
    now: Callable[[], int],
    services: Services,
    inputs: Mapping[str, Any],
    correlation_id: str | None = None,
    name: str | None = None,
    parent_id: str | None = None,
    trigger: str | None = None,
    trigger_payload: Any = None,
    flowchart_mode: str | None = None,
    principal: str | None = None,
    trace: str | None = None,
    properties: Mapping[str, Any] | None = None,
    pending: bool = False,
) -> LiveInstance:
    """A new instance with its root in the queue. Inputs are complete and checked. A pending one waits for `begin`."""
    live = LiveInstance(
        plan,
        id,
        now,
        services,
        PENDING_STATUS,
        now(),
        correlation_id,
        name,
        parent_id,
        principal,
        trace,
        flowchart_mode or plan.flowchart_mode,
        trigger,
        trigger is not None,
        1,
    )
    if properties:
        live.properties = dict(properties)
    live.trigger_payload = trigger_payload
    shape = plan.root.shape
    assert shape is not None
    scope = live.open_scope(shape)
    for input_name, value in inputs.items():
        scope[shape.inputs[input_name]] = value
    live.root = Activation(1, plan.root, None, scope, scope)
    live.cleanup = Activation(0, plan.root, None, scope, scope, data=[])
    if not pending:
        begin(live)
    return live


def begin(live: LiveInstance) -> None:
    """From pending to running: the workflow's first activity is in the queue."""
    live.status = RUNNING_STATUS
    data: dict[str, Any] = {"trigger": live.trigger} if live.trigger else {}
    if live.principal is not None:
        data["principal"] = live.principal
    live.note(INSTANCE_STARTED, None, data or None)
    operator_actions.begin(live)


# -- bookmarks ---------------------------------------------------------------------------------------------------------


class Received(NamedTuple):
    """A payload that a bookmark takes, before anything is changed."""

    activation: Activation
    bookmark: Bookmark
    payload: Any
    problem: Exception | None = None
    """What the wait's own test of it raised: it fails with that."""


def resume(live: LiveInstance, bookmark_id: str, payload: Any = None) -> bool:
    """Wake the activity that waits at this bookmark. False if it passes this payload by: nothing is changed then."""
    received = receive(live, bookmark_id, payload)
    if received is None:
        return False
    wake(live, received)
    return True


def receive(live: LiveInstance, bookmark_id: str, payload: Any = None) -> Received | None:
    """What `wake` would do; None if the activity passes this payload by. Raises what keeps it from being resumed:
    `BookmarkNotFound`, `InstanceAtRest`, `PayloadRefused`, `UnknownValueType`."""
    if live.status.at_rest:
        refuse_at_rest(live)
    bookmark = live.bookmarks.get(bookmark_id)
    if bookmark is None:
        raise BookmarkNotFound(bookmark_id, instance_id=live.id, open_ids=list(live.bookmarks))
    payload = values.copy(payload, "payload")
    activation = live.waiters[bookmark.execution_id]
    receives = activation.node.hooks.receives
    if receives is not None:
        try:
            payload = receives(live, activation, bookmark, payload)
        except (PayloadRefused, UnknownValueType):
            raise  # The sender's fault, or this node's: the instance waits for what it can read.
        except Exception as error:  # noqa: BLE001 - code of others: whatever it raises is a fault of the activity
            return Received(activation, bookmark, payload, error)
        if payload is PASSED:
            return None
    return Received(activation, bookmark, payload)


def wake(live: LiveInstance, received: Received) -> None:
    activation, bookmark, payload, problem = received
    if bookmark.kind is _TIMEOUT and activation.id in live.effects:
        _burn(live, activation, bookmark)
        return  # Whoever runs the attempt keeps its time; until then it waits for a worker, or for somebody's word.
    live.status = RUNNING_STATUS
    live.waited_at = live.sequence
    if bookmark.auto_burn:
        _burn(live, activation, bookmark)
    live.note(RESUMED, activation, {"bookmark": bookmark.id, "name": bookmark.name})
    if problem is None:
        _wake(live, activation, bookmark, payload)
    else:
        faults.fault(live, activation, faults.named(activation.node, problem))


def hear_itself(live: LiveInstance) -> bool:
    """Hand a published event that only this instance may hear to an activity of its own that waits for it."""
    if live.status.at_rest:
        return False
    for event in [event for event in live.published if event["local"]]:
        key = stimulus_hash("Event", {"event_name": event["name"]})
        for mark in [item.id for item in live.bookmarks.values() if item.hash == key]:
            try:
                taken = resume(live, mark, event["payload"])
            except PayloadRefused as error:
                live.note(JournalEvent.UNREAD, None, {"name": event["name"], "message": str(error)})
                live.published.remove(event)
                break
            if taken:
                live.published.remove(event)
                return True
    return False


def _wake(live: LiveInstance, activation: Activation, bookmark: Bookmark, payload: Any) -> None:
    if bookmark.kind is _RETRY:
        operator_actions.again(live, activation)
        return
    if bookmark.kind is _TIMEOUT:
        cancellation.cancel_kids(live, activation)
        faults.fault(live, activation, ActivityTimeout(activation.node.key, str(bookmark.payload)))
        return
    woken = activation.node.hooks.resume
    try:
        if woken is not None:
            woken(live, activation, bookmark, payload)
        elif bookmark.auto_complete:
            live.complete(activation)
    except Exception as error:  # noqa: BLE001 - code of others: whatever it raises is a fault of the activity
        faults.fault(live, activation, faults.named(activation.node, error))


def _burn(live: LiveInstance, activation: Activation, bookmark: Bookmark) -> None:
    del live.bookmarks[bookmark.id]
    if activation.bookmarks is not None:
        activation.bookmarks.remove(bookmark.id)


# -- effects -----------------------------------------------------------------------------------------------------------


def finish_effect(live: LiveInstance, execution_id: int, attempt: int, result: Record | EffectFailure) -> bool:
    """Apply a result. False if it is late: its row is gone or names another attempt; it is journaled and dropped."""
    request = live.effects.get(execution_id)
    activation = live.waiters.get(execution_id)
    if request is None or request.attempt != attempt or activation is None:
        live.note(JournalEvent.RESULT_DROPPED, activation, {"execution": execution_id, "attempt": attempt})
        return False
    del live.effects[execution_id]
    live.waited_at = live.sequence
    if isinstance(result, EffectFailure):
        faults.fault(live, activation, result.error or RemoteError(result))
        return True
    live.note(EFFECT_RESULT, activation, {"attempt": attempt})
    try:
        finish = activation.node.hooks.result
        assert finish is not None
        finish(live, activation, result)
    except Exception as error:  # noqa: BLE001 - code of others: whatever it raises is a fault of the activity
        faults.fault(live, activation, error)
    return True


class RemoteError(ExecutionError):
    """A failure that happened where its exception could not come back from: told by its names."""

    def __init__(self, failure: EffectFailure) -> None:
        self.type_name = failure.type
        self.names = (failure.type, *failure.bases)
        self.source = failure.source
        super().__init__(failure.message)


# -- the whole instance ------------------------------------------------------------------------------------------------


def cancel(live: LiveInstance, cause: str = "canceled", *, finalize: bool = True) -> None:
    """Cancel the instance; a faulted one too, since it may still be retried."""
    refuse_cancel(live)
    live.status = Status.RUNNING
    cancellation.stop(live, cause, finalize=finalize)


def refuse_cancel(live: LiveInstance) -> None:
    if live.status in (Status.FINISHED, Status.CANCELED):
        raise InstanceAtRest(live.id, live.status, remedy="There is nothing left to cancel.")


def retry(live: LiveInstance) -> int:
    """Run the failed activities of a faulted (or incident-laden) instance again; their number is returned."""
    if live.status in (Status.FINISHED, Status.CANCELED):
        raise InstanceAtRest(live.id, live.status, remedy="Only faulted and suspended instances can be retried.")
    return operator_actions.retry(live, operator_actions.failed(live))


def refuse_at_rest(live: LiveInstance) -> None:
    if live.status is Status.FAULTED:
        raise InstanceAtRest(live.id, live.status, remedy="Retry or cancel it first.")
    if live.status.at_rest:
        raise InstanceAtRest(live.id, live.status, remedy="It takes no more work.")
