"""Fault handling: retry, a handler in an ancestor, or an incident."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import timedelta
from traceback import extract_tb
from typing import TYPE_CHECKING, Any

from holdfast.errors import ActivityFault, ExpressionError, InputEvaluationFailed, StateUnreadable, WrongType
from holdfast.execution.activation import FAULTED, RUNNING, Activation
from holdfast.execution.cancellation import end_finalizer, forget_bookmarks
from holdfast.execution.journal import captured, masked
from holdfast.execution.record import NewBookmark, argument_of
from holdfast.model.hashing import stimulus_hash
from holdfast.model.instance import BookmarkKind, Incident, JournalEvent
from holdfast.model.policy import Retry
from holdfast.model.scope import Scope
from holdfast.model.values.display import readable
from holdfast.model.values.exceptions import KeptException

if TYPE_CHECKING:
    from holdfast.execution.live import LiveInstance
    from holdfast.execution.plan import Node


CAUSES_MAX = 8
"""Causes of an error that are looked at: exceptions may be their own cause."""
LOCAL_QUEUES = (None, "inline")


def handle_exception(live: LiveInstance, node: Node, owner: Activation, scope: Scope, error: Exception) -> None:
    """Handle an exception of an operation: find or create the activation of the failed execution, then decide."""
    raise_unreadable(error)
    activation = _running(node, owner, live) or live.activate(node, owner, scope)
    fault(live, activation, with_input_name(node, error))


def raise_unreadable(error: BaseException) -> None:
    """A stored value that the code of this process cannot read is no fault of an activity: the segment is discarded."""
    found: BaseException | None = error
    for _ in range(CAUSES_MAX):
        if found is None:
            return
        if isinstance(found, StateUnreadable):
            raise found
        found = found.__cause__


def _running(node: Node, owner: Activation, live: LiveInstance) -> Activation | None:
    """The activation that this execution created before it raised (always the newest)."""
    newest = (owner.kids or {}).get(live.sequence)
    return newest if newest is not None and newest.node is node and newest.status == RUNNING else None


def with_input_name(node: Node, error: Exception) -> Exception:
    """Name the input that a failed expression belongs to."""
    if isinstance(error, ExpressionError):
        name = node.sources.get(error.source)
        if name is not None:
            wrapped = InputEvaluationFailed(name, error)
            wrapped.__cause__ = error
            return wrapped
    return error


def fault(live: LiveInstance, activation: Activation, error: BaseException) -> None:
    """Retry if the policy allows it, else offer the fault to the ancestors, else create an incident."""
    raise_unreadable(error)
    live.note(JournalEvent.FAULTED, activation, {"type": type_name(error), "message": captured(str(error))})
    if activation.bookmarks:
        forget_bookmarks(live, activation)
    if _retry(live, activation, error):
        return
    activation.status = FAULTED
    ancestor, top = activation.owner, activation
    while ancestor is not None:
        top = ancestor
        handler = ancestor.node.hooks.fault
        if handler is not None and not ancestor.status and handler(live, ancestor, activation, error):
            return
        ancestor = ancestor.owner
    add_incident(live, activation, error)
    if top is live.cleanup:
        # Work under `cleanup` is not retried: continue with the remaining finalizers.
        end_finalizer(live, activation)


def add_incident(live: LiveInstance, activation: Activation, error: BaseException) -> None:
    """Add the incident of a failure that no handler catches."""
    incident = incident_of(live, activation, error)
    live.incidents.append(incident)
    live.error = error
    if live.plan.ends_instance(incident):
        live.fault_pending = True


# -- retry -------------------------------------------------------------------------------------------------------------


def _retry(live: LiveInstance, activation: Activation, error: BaseException) -> bool:
    policy = activation.node.retry
    if policy is None or activation.attempt >= policy.attempts or not is_retried(policy, error):
        return False
    wait = back_off(policy, activation.attempt, f"{live.id}:{activation.id}")
    due = live.moment() + wait
    if live.defers_steps and _is_step(activation):
        live.note(JournalEvent.RETRY_SCHEDULED, activation, {"attempt": activation.attempt + 1, "due": due.isoformat()})
        activation.attempt += 1
        method, argument = activation.data.get("call") or ["execute", {"value": None}]
        inputs = activation.data["inputs"]
        live.record_effect(activation, inputs, method=method, argument=argument_of(argument), delay=wait)
        return True
    live.bookmark(activation, NewBookmark(name="retry", payload=activation.attempt, due=due), BookmarkKind.RETRY)
    live.note(JournalEvent.RETRY_SCHEDULED, activation, {"attempt": activation.attempt + 1, "due": due.isoformat()})
    return True


def _is_step(activation: Activation) -> bool:
    """Whether a queue carries this effect. The queue then delays the next attempt; no bookmark is needed."""
    node = activation.node
    return node.effect is not None and activation.data is not None and node.options.queue not in LOCAL_QUEUES


def is_retried(policy: Retry, error: BaseException) -> bool:
    if isinstance(error, WrongType):
        return False  # The effect has happened, and its next result would have the same type.
    names = set(error_names(error))
    return not names & set(policy.never_on) and (not policy.on or bool(names & set(policy.on)))


def back_off(policy: Retry, attempt: int, seed: str) -> timedelta:
    """Wait after a failed attempt. The jitter derives from the seed, so a retried segment waits the same time."""
    wait = min(policy.delay * policy.factor ** (attempt - 1), policy.delay_max)
    share = int(stimulus_hash(seed, attempt)[:8], 16) / 0xFFFFFFFF
    return wait * (1 + policy.jitter * (2 * share - 1))


# -- incidents ---------------------------------------------------------------------------------------------------------


def incident_of(live: LiveInstance, activation: Activation, error: BaseException) -> Incident:
    node = activation.node
    details: dict[str, Any] = {}
    if isinstance(error, ActivityFault):
        details = {"code": error.code, "category": error.category, "fault_type": error.fault_type}
    return Incident(
        id=f"{live.id}-{activation.id}-{activation.attempt}",
        type=type_name(error),
        message=readable(str(error)) or type_name(error),
        at=live.moment(),
        activity_id=node.key,
        activity_type=node.definition.type,
        activity_name=node.definition.name,
        execution_id=activation.id,
        attempt=activation.attempt,
        source=source_of(error),
        inputs=masked(node, _inputs_of(live, activation)),
        details=details,
    )


def _inputs_of(live: LiveInstance, activation: Activation) -> Mapping[str, Any]:
    request = live.effects.get(activation.id)
    if request is not None:
        return request.inputs
    data = activation.data
    return data.get("inputs", {}) if isinstance(data, dict) else {}


def type_name(error: BaseException) -> str:
    if isinstance(error, KeptException):
        return _short(error.names[0])
    public: str = getattr(error, "type_name", "") if type(error).__name__ == "RemoteError" else ""
    return public or type(error).__name__


def error_names(error: BaseException) -> tuple[str, ...]:
    """Names by which an error can be caught: its class, base classes, and the names it reports itself."""
    remote: tuple[str, ...] = getattr(error, "names", ())
    own = tuple(item.__name__ for item in type(error).__mro__ if item not in (object, BaseException))
    return (*remote, *map(_short, remote), *own)


def _short(name: str) -> str:
    """`shop.errors.Declined` → `Declined`."""
    return re.split(r"[.:]", name)[-1]


def source_of(error: BaseException) -> str | None:
    if isinstance(error, ExpressionError):
        return error.source
    if isinstance(error, InputEvaluationFailed) and isinstance(error.__cause__, ExpressionError):
        return error.__cause__.source
    remote: str | None = getattr(error, "source", None)
    frames = extract_tb(error.__traceback__)
    if remote is not None or not frames:
        return remote
    last = frames[-1]
    return f"{last.filename}:{last.lineno}"
