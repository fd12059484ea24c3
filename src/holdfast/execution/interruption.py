"""Interrupted effects: effects without a result when their scope failed, kept for a retry of that scope (rule H3).

A scope that fails as a whole (a timeout, a `try` whose `finally` runs) ends the effects in it: those that run are
canceled, and a failed one is not retried by itself. If the scope is retried and makes the same call again (same
activity, same inputs), the call continues the interrupted execution: same execution id and key, next attempt. What an
effect that ran has done outside is unknown, so `on_lost` decides whether it runs again. The same holds for an effect whose
own process died while its node lives.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holdfast.execution import faults
from holdfast.execution.activation import FAULTED, Activation
from holdfast.execution.cancellation import cancel_kids, cancel_parts, end_unfinished
from holdfast.execution.effect_failure import RemoteError
from holdfast.execution.journal import STARTED
from holdfast.execution.record import EffectFailure, EffectRequest, Interrupted
from holdfast.model import values
from holdfast.model.instance import LOST, Incident, JournalEvent
from holdfast.model.policy import OnLost
from holdfast.model.scope import Scope

if TYPE_CHECKING:
    from holdfast.execution.live import LiveInstance
    from holdfast.execution.plan import Node

PROCESSES_MAX = 3
"""Processes that one effect may end. After that it fails (rule H15)."""


def interrupt_kids(live: LiveInstance, activation: Activation) -> None:
    """Cancel all descendants of a failed scope, and keep their effects without a result for its retry."""
    kept = _without_result(live, activation)
    cancel_kids(live, activation)
    _keep(live, activation, kept)


def interrupt_parts(live: LiveInstance, activation: Activation) -> None:
    """The same for a scope that has failed as a whole (timeout): its own `finally` part still runs."""
    kept = _without_result(live, activation)
    cancel_parts(live, activation)
    _keep(live, activation, kept)


def _without_result(live: LiveInstance, activation: Activation) -> tuple[Interrupted, ...]:
    found = list(live.interrupted.get(activation.id, ()))
    for item in activation.descendants():
        found += live.interrupted.get(item.id, ())
        ran = item.id in live.effects
        if ran or (item.status == FAULTED and item.node.effect is not None and item.data is not None):
            found.append(Interrupted(item.id, item.node.key, item.attempt, item.data["inputs"], ran))
    return tuple(found)


def _keep(live: LiveInstance, activation: Activation, found: tuple[Interrupted, ...]) -> None:
    if found:
        live.interrupted = {**live.interrupted, activation.id: found}


def continue_interrupted(
    live: LiveInstance, node: Node, owner: Activation, scopes: tuple[Scope, Scope], data: dict[str, Any]
) -> bool:
    """Continue the interrupted execution of a call. False if there is none.

    `scopes` are the scope of the owner and the scope of the new activation, `data` is the data of the new activation.
    """
    found = _take(live, node, owner, data["inputs"])
    if found is None:
        return False
    activation = live.adopt(Activation(found.execution_id, node, owner, *scopes, attempt=found.attempt + 1, data=data))
    if node.timeout is not None:
        live.arm_timeout(activation, node.timeout)
    live.journal.append((STARTED, node.index, activation.id, live.now(), {"interrupted": found.attempt}))
    if not found.ran:
        live.record_effect(activation, data["inputs"])
        return True
    unknown = f"'{node.key}' was interrupted while it ran, and its outcome is unknown."
    if node.options.on_lost is OnLost.FAIL:
        failed = EffectFailure(type="EffectLost", message=f"{unknown} It is not run again (on_lost: fail).")
        faults.fault(live, activation, RemoteError(failed))
    else:
        _record(live, activation, EffectRequest(activation.id, node.key, inputs=data["inputs"]), unknown)
    return True


def run_lost_again(live: LiveInstance, activation: Activation, request: EffectRequest) -> bool:
    """Record the next attempt of an effect whose own process died, as `on_lost` says. False if it fails instead."""
    node, lost = activation.node, activation.data.get("lost", 0) + 1
    if node.options.on_lost is OnLost.FAIL or lost >= PROCESSES_MAX:
        return False
    activation.data["lost"] = lost
    activation.attempt += 1
    _record(live, activation, request, f"The process that ran '{node.key}' died, and the outcome is unknown.")
    return True


def _record(live: LiveInstance, activation: Activation, request: EffectRequest, unknown: str) -> None:
    """Record the next attempt of a call with an unknown outcome: it runs, or is held until an operator recovers it."""
    held = activation.node.options.on_lost is OnLost.HOLD
    live.record_effect(activation, request.inputs, method=request.method, argument=request.argument, held=held)
    if held:
        _hold(live, activation, unknown)


def _hold(live: LiveInstance, activation: Activation, unknown: str) -> None:
    message = (
        f"{unknown} The effect is held (on_lost: hold). Check the outcome, then run it again (holdfast instances recover "
        f"{live.id}) or cancel the instance."
    )
    incident = Incident(
        id=f"{live.id}-{LOST}-{activation.id}-{activation.attempt}",
        type=LOST,
        message=message,
        at=live.moment(),
        activity_id=activation.node.key,
        execution_id=activation.id,
        attempt=activation.attempt,
    )
    live.incidents.append(incident)
    live.note(JournalEvent.INCIDENT, activation, {"type": LOST, "message": message})


def _take(live: LiveInstance, node: Node, owner: Activation, inputs: dict[str, Any]) -> Interrupted | None:
    """Find the interrupted call in the scopes around its owner, innermost first, and remove it there."""
    scope: Activation | None = owner
    types, wanted = live.plan.types, None
    while scope is not None:
        for item in live.interrupted.get(scope.id, ()):
            if item.activity_id != node.key:
                continue
            wanted = values.encode(inputs, types) if wanted is None else wanted
            if values.encode(item.inputs, types) == wanted:
                left = tuple(other for other in live.interrupted[scope.id] if other is not item)
                live.interrupted = {**live.interrupted, scope.id: left}
                if (
                    request := live.ending.pop(item.execution_id, None)
                ) is not None:  # The next attempt replaces its row.
                    live.canceled_effects[item.execution_id] = request
                    if (waiter := live.waiters.get(item.execution_id)) is not None:
                        end_unfinished(live, waiter)
                live.compensations = tuple(
                    kept for kept in live.compensations if kept.execution_id != item.execution_id
                )
                return item
        scope = scope.owner
    return None
