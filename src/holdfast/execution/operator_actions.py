"""Operator actions on activities: retry, retry with other inputs, skip, schedule and cancel.

The functions change activations only. Callers record the operator and the reason.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from holdfast.errors import ExecutionError, InstanceAtRest
from holdfast.execution import cancellation, faults, interruption
from holdfast.execution.activation import FAULTED, RUNNING, Activation
from holdfast.execution.live import LiveInstance
from holdfast.execution.plan import Outcome
from holdfast.execution.record import argument_of
from holdfast.model.instance import MIDDLEWARE, Status
from holdfast.model.types import convert


def living(live: LiveInstance, activity: str | None = None) -> list[Activation]:
    """Running and failed activations; with `activity`, only those of that activity (id or full key)."""
    found = [item for item in [live.root, *live.root.descendants()] if item.status in (RUNNING, FAULTED)]
    if activity is None:
        return found
    if live.plan.node(activity) is None:
        raise ExecutionError(f"The workflow has no activity '{activity}'. Use the id of an existing activity.")
    return [item for item in found if activity in (item.node.key, item.node.definition.id)]


def failed(live: LiveInstance, activity: str | None = None) -> list[Activation]:
    return [item for item in living(live, activity) if item.status == FAULTED]


# -- retry -------------------------------------------------------------------------------------------------------------


def retry(live: LiveInstance, failed_ones: Iterable[Activation], inputs: Mapping[str, Any] | None = None) -> int:
    """Retry these activations and return their number. With `inputs` they become new executions with these inputs."""
    chosen = list(failed_ones)
    if inputs is not None:
        for activation in chosen:
            check_editable(live, activation, inputs)
    _wake(live, chosen)
    for activation in chosen:
        _notify(live, activation)
        if activation.status != FAULTED:
            continue  # An ancestor has a result without it, and has canceled it.
        if inputs is None:
            start_attempt(live, activation)
        else:
            rerun(live, activation, inputs)
    return len(chosen)


def _notify(live: LiveInstance, activation: Activation) -> None:
    """Tell the ancestors that a failed descendant is retried."""
    above = activation.owner
    while above is not None and activation.status == FAULTED:
        retried = above.node.hooks.retried
        if retried is not None:
            retried(live, above, activation)
        above = above.owner


def _wake(live: LiveInstance, healed: list[Activation]) -> None:
    """Remove the incidents of these activations, and of middleware, which runs again with the next segment. Set the instance
    to running. Other failures stay."""
    gone = {item.id for activation in healed for item in (activation, *activation.descendants())}
    live.status = Status.RUNNING if live.stopping is None else Status.CANCELING
    live.incidents = [item for item in live.incidents if item.execution_id not in gone and item.type != MIDDLEWARE]
    live.fault_pending = live.fault_pending and any(item.id not in gone for item in failed(live))


def start_attempt(live: LiveInstance, activation: Activation) -> None:
    """Start the next attempt of a failed activity.

    An effect keeps its id and inputs; a pure activity runs from its start.
    """
    activation.attempt += 1
    activation.status = RUNNING
    node, owner = activation.node, activation.owner
    if node.effect is not None and activation.data is not None:
        # Repeat the call that failed: `execute` or a callback. There is no data if the inputs could not be evaluated.
        method, argument = activation.data.get("call") or ["execute", {"value": None}]
        live.record_effect(activation, activation.data["inputs"], method=method, argument=argument_of(argument))
        return
    interruption.interrupt_kids(live, activation)
    cancellation.withdraw(live, [activation])
    if owner is None:
        begin(live)
        return
    assert owner.kids is not None
    owner.kids.pop(activation.id, None)
    live.waiters.pop(activation.id, None)
    live.retrying = activation
    try:
        node.op(live, owner, activation.outer)
    except Exception as error:  # noqa: BLE001 - user code: any exception is a fault of the activity
        faults.handle_exception(live, node, owner, activation.outer, error)
    finally:
        live.retrying = None


def check_editable(live: LiveInstance, activation: Activation, inputs: Mapping[str, Any]) -> None:
    """Raise for inputs that this activity cannot accept."""
    node = activation.node
    if node.effect is None:
        raise ExecutionError(
            f"'{node.key}' is not an effect: its inputs are evaluated when it runs. Change the variables that they "
            "use, then retry it."
        )
    known = {item.name: item.type for item in node.descriptor.inputs}
    for name, value in inputs.items():
        if name not in known:
            raise ExecutionError(f"'{node.key}' has no input '{name}'; it has: {', '.join(known) or 'none'}.")
        try:
            convert(value, known[name], live.plan.types)
        except ValueError as error:
            raise ExecutionError(f"Input '{name}' of '{node.key}' must be {known[name]}: {error}") from error


def rerun(live: LiveInstance, activation: Activation, inputs: Mapping[str, Any]) -> None:
    """Run a failed effect with edited inputs.

    It is a new execution, because an idempotency key belongs to one set of inputs (rule H3).
    """
    node, owner, data = activation.node, activation.owner, activation.data or _empty_data()
    types = {item.name: item.type for item in node.descriptor.inputs}
    given = {**data["inputs"], **{name: convert(value, types[name], live.plan.types) for name, value in inputs.items()}}
    assert owner is not None
    assert owner.kids is not None
    cancellation.cancel_kids(live, activation)
    owner.kids.pop(activation.id, None)
    live.waiters.pop(activation.id, None)
    fresh = live.activate(node, owner, activation.outer, activation.scope)
    fresh.data = {**data, "inputs": given}
    method, argument = data.get("call") or ["execute", {"value": None}]
    live.record_effect(fresh, given, method=method, argument=argument_of(argument))


def _empty_data() -> dict[str, Any]:
    """Data of an effect whose inputs could not be evaluated."""
    return {"inputs": {}, "state": {}, "waiting": [], "scheduled": 0}


# -- other actions -----------------------------------------------------------------------------------------------------


def begin(live: LiveInstance) -> None:
    """Queue the workflow's first activity and start its timeout."""
    root = live.root
    if root.node.timeout is not None:
        live.arm_timeout(root, root.node.timeout)
    assert root.node.first is not None
    live.queue.append((root.node.first, root, root.scope))


def drop_effect(live: LiveInstance, activation: Activation) -> None:
    request = live.effects.pop(activation.id, None)
    if request is not None:
        live.canceled_effects[activation.id] = request


def skip(live: LiveInstance, activity: str, outcome: Outcome = None) -> int:
    """Skip a failed, waiting or running activity as if it had completed. Returns the number of skipped executions."""
    chosen = living(live, activity)
    chosen = [item for item in chosen if item.owner is not None and not _within(item, chosen)]
    _wake(live, chosen)
    for activation in chosen:
        drop_effect(live, activation)
        activation.status = RUNNING
        live.complete(activation, outcome)
    return len(chosen)


def cancel_activity(live: LiveInstance, activity: str) -> int:
    """Cancel an activity. Its container handles it like any canceled child. Returns the number of canceled executions."""
    chosen = [item for item in living(live, activity) if item.owner is not None]
    _wake(live, chosen)
    for activation in chosen:
        cancellation.cancel(live, activation)
    return len(chosen)


def _within(activation: Activation, others: list[Activation]) -> bool:
    above = activation.owner
    while above is not None:
        if above in others:
            return True
        above = above.owner
    return False


def schedule(live: LiveInstance, activity: str) -> None:
    """Run an activity of an active flowchart on request of an operator, for example to release a stuck join."""
    if live.status in (Status.FINISHED, Status.CANCELED):
        raise InstanceAtRest(live.id, live.status, remedy="It accepts no more work.")
    node = live.plan.node(activity)
    if node is None:
        raise ExecutionError(f"The workflow has no activity '{activity}'. Use the id of an existing activity.")
    for activation in [live.root, *live.root.descendants()]:
        take = activation.node.hooks.schedule
        if activation.node is node.parent and take is not None:
            live.status = Status.RUNNING
            live.incidents = [item for item in live.incidents if item.type != "stuck"]
            take(live, activation, node)
            return
    raise ExecutionError(
        f"'{activity}' cannot be scheduled: it does not belong to a flowchart that is running in this instance."
    )
