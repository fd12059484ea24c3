"""Delivery of external input to an instance: start, resumed bookmarks, effect results, retry and cancellation.

Each function changes the live instance and adds work to its queue. The next segment runs the queue.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from holdfast.errors import (
    ActivityTimeout,
    BookmarkNotFound,
    InstanceAtRest,
    PayloadRefused,
    UnknownValueType,
)
from holdfast.execution import cancellation, faults, interruption, operator_actions
from holdfast.execution.activation import Activation
from holdfast.execution.effect_failure import RemoteError
from holdfast.execution.live import LiveInstance
from holdfast.execution.plan import REJECTED, Plan
from holdfast.execution.properties import check_properties
from holdfast.execution.record import PROCESS_DIED, EffectFailure, EffectResult, record_of
from holdfast.model import values
from holdfast.model.hashing import stimulus_hash
from holdfast.model.instance import Bookmark, BookmarkKind, JournalEvent, Status
from holdfast.ports import Services

PENDING_STATUS, RUNNING_STATUS, CANCELING_STATUS = Status.PENDING, Status.RUNNING, Status.CANCELING
INSTANCE_STARTED = JournalEvent.INSTANCE_STARTED.value
INSTANCE_CANCELING = JournalEvent.INSTANCE_CANCELING.value
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
    home: str | None = None,
    pending: bool = False,
) -> LiveInstance:
    """Create an instance with its root in the queue.

    Inputs must be complete and checked. A pending instance waits for `begin`.
    """
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
        check_properties(properties)
        live.properties = values.copy(dict(properties))
    if home is not None:
        live.home = home
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
    """Change the status from pending to running and queue the workflow's first activity."""
    live.status = RUNNING_STATUS
    data: dict[str, Any] = {"trigger": live.trigger} if live.trigger else {}
    if live.principal is not None:
        data["principal"] = live.principal
    live.note(INSTANCE_STARTED, None, data or None)
    operator_actions.begin(live)


# -- bookmarks ---------------------------------------------------------------------------------------------------------


class Received(NamedTuple):
    """A payload that a bookmark accepts. Nothing is changed yet."""

    activation: Activation
    bookmark: Bookmark
    payload: Any
    problem: Exception | None = None
    """Exception raised by the activity's own check of the payload. The activity fails with it."""


def resume(live: LiveInstance, bookmark_id: str, payload: Any = None) -> bool:
    """Resume the activity that waits at this bookmark. False if it rejects the payload; nothing changes then."""
    received = receive(live, bookmark_id, payload)
    if received is None:
        return False
    wake(live, received)
    return True


def receive(live: LiveInstance, bookmark_id: str, payload: Any = None) -> Received | None:
    """Check a payload without changing anything. None if the activity rejects it.

    Raises `BookmarkNotFound`, `InstanceAtRest`, `PayloadRefused` or `UnknownValueType`.
    """
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
            raise  # An error of the sender or of this node: the instance keeps waiting for a valid payload.
        except Exception as error:  # noqa: BLE001 - user code: any exception is a fault of the activity
            return Received(activation, bookmark, payload, error)
        if payload is REJECTED:
            return None
    return Received(activation, bookmark, payload)


def wake(live: LiveInstance, received: Received) -> None:
    activation, bookmark, payload, problem = received
    if bookmark.kind is _TIMEOUT and activation.id in live.effects:
        _burn(live, activation, bookmark)
        # The effect's executor enforces its own timeout. Until it starts, the effect waits for a worker or an operator.
        return
    live.status = RUNNING_STATUS if live.stopping is None else CANCELING_STATUS
    live.waited_at = live.sequence
    if bookmark.auto_burn:
        _burn(live, activation, bookmark)
    live.note(RESUMED, activation, {"bookmark": bookmark.id, "name": bookmark.name})
    if problem is None:
        _wake(live, activation, bookmark, payload)
    else:
        faults.fault(live, activation, faults.with_input_name(activation.node, problem))


def deliver_local_events(live: LiveInstance) -> bool:
    """Deliver published local events to waiting activities of the same instance."""
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
        operator_actions.start_attempt(live, activation)
        return
    if bookmark.kind is _TIMEOUT:
        interruption.interrupt_parts(live, activation)
        faults.fault(live, activation, ActivityTimeout(activation.node.key, str(bookmark.payload)))
        return
    woken = activation.node.hooks.resume
    try:
        if woken is not None:
            woken(live, activation, bookmark, payload)
        elif bookmark.auto_complete:
            live.complete(activation)
    except Exception as error:  # noqa: BLE001 - user code: any exception is a fault of the activity
        faults.fault(live, activation, faults.with_input_name(activation.node, error))


def _burn(live: LiveInstance, activation: Activation, bookmark: Bookmark) -> None:
    del live.bookmarks[bookmark.id]
    if activation.bookmarks is not None:
        activation.bookmarks.remove(bookmark.id)


# -- effects -----------------------------------------------------------------------------------------------------------


def finish_effect(live: LiveInstance, execution_id: int, attempt: int, result: EffectResult) -> bool:
    """Apply a result. False if the result is stale (no such effect, or another attempt): it is journaled and dropped."""
    if execution_id in live.ending:
        return _end_effect(live, execution_id, attempt, result)
    request = live.effects.get(execution_id)
    activation = live.waiters.get(execution_id)
    if request is None or request.attempt != attempt or activation is None:
        live.note(JournalEvent.RESULT_DROPPED, activation, {"execution": execution_id, "attempt": attempt})
        return False
    del live.effects[execution_id]
    live.waited_at = live.sequence
    if isinstance(result, EffectFailure):
        if result.cause == PROCESS_DIED and interruption.run_lost_again(live, activation, request):
            return True
        faults.fault(live, activation, result.error or RemoteError(result))
        return True
    live.note(EFFECT_RESULT, activation, {"attempt": attempt})
    try:
        finish = activation.node.hooks.result
        assert finish is not None
        finish(live, activation, record_of(result))
    except Exception as error:  # noqa: BLE001 - user code: any exception is a fault of the activity
        faults.fault(live, activation, error)
    return True


def _end_effect(live: LiveInstance, execution_id: int, attempt: int, result: EffectResult) -> bool:
    """Journal the end of a canceled effect. Finalizers start after the last one. Its result is dropped, unless it completes a
    Compensable."""
    request = live.ending[execution_id]
    if request.attempt != attempt:
        live.note(JournalEvent.RESULT_DROPPED, None, {"execution": execution_id, "attempt": attempt})
        return False
    del live.ending[execution_id]
    live.canceled_effects.pop(execution_id, None)
    ended = result.cause if isinstance(result, EffectFailure) else "finished"
    node = live.plan.by_key.get(request.activity_id)
    data = {"attempt": attempt, "ended": ended}
    live.journal.append(
        (JournalEvent.EFFECT_ENDED.value, -1 if node is None else node.index, execution_id, live.now(), data)
    )
    activation = live.waiters.get(execution_id)
    if activation is not None:
        _end_unfinished(live, activation, result)
    cancellation.continue_cleanup(live)
    return True


def _end_unfinished(live: LiveInstance, activation: Activation, result: EffectResult) -> None:
    """Apply the result of the last effect of an unfinished Compensable. If that does not complete it, it is canceled."""
    known = live.compensations
    if not isinstance(result, EffectFailure):
        live.finishing = cancellation.compensable_of(live, activation)
        try:
            finish = activation.node.hooks.result
            assert finish is not None
            finish(live, activation, record_of(result))
        except Exception as error:  # noqa: BLE001 - user code: any exception is a fault of the activity
            faults.fault(live, activation, error)
        finally:
            live.finishing = None
        for item in live.compensations[len(known) :]:
            item.execution_id = activation.id  # A retry that continues this call registers it again.
    cancellation.end_unfinished(live, activation)
    cancellation.wake_compensates(live)


# -- whole instance ----------------------------------------------------------------------------------------------------


def cancel(live: LiveInstance, cause: str = "canceled", *, finalize: bool = True) -> bool:
    """Cancel the instance. A faulted instance can be canceled too, because it can still be retried.

    False if it is being canceled already.
    """
    refuse_cancel(live)
    if not cancellation.stop(live, cause, finalize=finalize):
        return False
    live.status = CANCELING_STATUS
    live.note(INSTANCE_CANCELING, None, {"cause": cause})
    return True


def refuse_cancel(live: LiveInstance) -> None:
    if live.status in (Status.FINISHED, Status.CANCELED):
        raise InstanceAtRest(live.id, live.status, remedy="There is nothing left to cancel.")


def retry(live: LiveInstance) -> int:
    """Retry the failed activities of an instance and return their number."""
    if live.status in (Status.FINISHED, Status.CANCELED):
        raise InstanceAtRest(live.id, live.status, remedy="Only faulted and suspended instances can be retried.")
    return operator_actions.retry(live, operator_actions.failed(live))


def refuse_at_rest(live: LiveInstance) -> None:
    if live.status is Status.FAULTED:
        raise InstanceAtRest(live.id, live.status, remedy="Retry or cancel it first.")
    if live.status.at_rest:
        raise InstanceAtRest(live.id, live.status, remedy="It accepts no more work.")
