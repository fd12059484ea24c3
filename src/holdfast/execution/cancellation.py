"""Cancellation of activities: drops bookmarks, releases effects, withdraws queued work, and still runs `finally`.

Each cancellation has a cause, which is recorded first (rule M1). Finalizers (the `finally` of a Try, and the
compensations if the whole instance is canceled) run one after the other, innermost first, under the instance's
`cleanup` activation. Other cancellations do not reach `cleanup`, and the instance ends only after it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from holdfast.execution.activation import CANCELED, COMPLETED, FAULTED, Activation
from holdfast.model.instance import JournalEvent
from holdfast.model.scope import Scope

if TYPE_CHECKING:
    from holdfast.execution.live import LiveInstance
    from holdfast.execution.plan import Node

Finalizer = tuple["Node", Scope]


def cancel(live: LiveInstance, activation: Activation, *, notify: bool = True) -> None:
    """Cancel an activation and all its descendants."""
    if activation.status in (COMPLETED, CANCELED):
        return
    begun = _adopt(live, [activation, *activation.descendants()])
    doomed = [activation, *activation.descendants()]
    finalizers = begun + _finalizers(doomed)
    for item in doomed:
        _release(live, item)
    withdraw(live, doomed)
    owner = activation.owner
    if owner is not None and owner.kids is not None:
        owner.kids.pop(activation.id, None)
    add_cleanup(live, finalizers)
    if notify and owner is not None and not owner.status and owner.node.hooks.kid_canceled is not None:
        owner.node.hooks.kid_canceled(live, owner, activation)


def cancel_kids(live: LiveInstance, activation: Activation) -> None:
    for kid in list((activation.kids or {}).values()):
        cancel(live, kid, notify=False)
    activation.kids = None


def _release(live: LiveInstance, activation: Activation) -> None:
    activation.status = CANCELED
    live.waiters.pop(activation.id, None)
    if live.interrupted:
        forget_interrupted(live, activation)
    if activation.bookmarks:
        forget_bookmarks(live, activation)
    if live.effects.pop(activation.id, None) is not None:
        live.canceled_effects.append(activation.id)
        live.new_effects = [request for request in live.new_effects if request.execution_id != activation.id]
    if live.child_starts:
        live.child_starts = tuple(start for start in live.child_starts if start.execution_id != activation.id)
    live.note(JournalEvent.CANCELED, activation)


def forget_bookmarks(live: LiveInstance, activation: Activation) -> None:
    for key in activation.bookmarks or ():
        live.bookmarks.pop(key, None)
    activation.bookmarks = None
    children = activation.node.hooks.children
    if children is not None:
        live.orphans.extend(children(live, activation))


def forget_interrupted(live: LiveInstance, activation: Activation) -> None:
    """Forget the interrupted effects of a scope that ends: nothing will retry it."""
    live.interrupted = {at: kept for at, kept in live.interrupted.items() if at != activation.id}


def withdraw(live: LiveInstance, owners: Iterable[Activation]) -> None:
    """Remove queued work of these owners."""
    if not live.queue:
        return
    gone = {id(owner) for owner in owners}
    kept = [item for item in live.queue if id(item[1]) not in gone]
    if len(kept) != len(live.queue):
        live.queue.clear()
        live.queue.extend(kept)


def leave_queued(live: LiveInstance, activation: Activation) -> None:
    """Keep a completed activity whose children are still queued.

    As in Elsa, the children run, but their activations end.
    """
    if any(item[1] is activation for item in live.queue):
        activation.owner, activation.kids = None, None
        live.leftovers = (*live.leftovers, activation)


def end_leftovers(live: LiveInstance) -> bool:
    """End leftovers once the queue is empty. True if this queued more work."""
    leftovers, live.leftovers = live.leftovers, ()
    for activation in leftovers:
        cancel_kids(live, activation)
    return bool(live.queue)


def withdraw_all(live: LiveInstance) -> None:
    """Clear the queue, except for work under `cleanup`."""
    kept = [item for item in live.queue if _is_cleanup(live, item[1])]
    live.queue.clear()
    live.queue.extend(kept)
    end_leftovers(live)


def _is_cleanup(live: LiveInstance, owner: Activation) -> bool:
    while owner.owner is not None:
        owner = owner.owner
    return owner is live.cleanup


# -- finalizers --------------------------------------------------------------------------------------------------------


def _finalizers(doomed: list[Activation]) -> list[Finalizer]:
    """Finalizers innermost first; `doomed` lists owners before their kids."""
    found: list[Finalizer] = []
    for item in reversed(doomed):
        finalizer = item.node.hooks.finalizer
        node = finalizer(item) if finalizer is not None else None
        if node is not None:
            found.append((node, item.scope))
    return found


def _adopt(live: LiveInstance, doomed: list[Activation]) -> list[Finalizer]:
    """Move compensations that have started under `cleanup`, because the activity that started them is canceled.

    A half-finished compensation would be neither done nor undone. If `cleanup` is already busy, the compensations are
    returned and restart there in turn. A failed compensation ends; its incident documents it.
    """
    later: list[Finalizer] = []
    for item in doomed:
        if item.node.hooks.borrowed in (None, cleanup_done):
            continue
        kids = [kid for kid in (item.kids or {}).values() if not _has_failed(kid)]
        queued = [entry for entry in live.queue if entry[1] is item]
        if live.cleanup.data:
            later += [*((kid.node, kid.outer) for kid in kids), *((node, scope) for node, _, scope in queued)]
            continue
        for kid in kids:
            assert item.kids is not None
            del item.kids[kid.id]
            kid.owner = live.cleanup
            live.cleanup.kids = {**(live.cleanup.kids or {}), kid.id: kid}
            live.cleanup.data.append((kid.node, kid.outer))
        for entry in queued:
            live.queue[live.queue.index(entry)] = (entry[0], live.cleanup, entry[2])
            live.cleanup.data.append((entry[0], entry[2]))
    return later


def _has_failed(activation: Activation) -> bool:
    return any(item.status == FAULTED for item in (activation, *activation.descendants()))


def add_cleanup(live: LiveInstance, finalizers: list[Finalizer]) -> None:
    if not finalizers:
        return
    pending: list[Finalizer] = live.cleanup.data
    idle = not pending
    pending.extend(finalizers)
    if idle:
        _start_cleanup(live)


def _start_cleanup(live: LiveInstance) -> None:
    node, scope = live.cleanup.data[0]
    live.queue.append((node, live.cleanup, scope))


def cleanup_done(live: LiveInstance, owner: Activation, scope: Scope, outcome: Any) -> None:
    """Continuation of all work under `cleanup`."""
    pending: list[Finalizer] = owner.data
    if pending:
        pending.pop(0)
    if pending:
        _start_cleanup(live)


def end_finalizer(live: LiveInstance) -> None:
    """End the finalizer that runs under `cleanup` early, because it failed or ran Finish, and start the next one."""
    cancel_kids(live, live.cleanup)
    withdraw(live, [live.cleanup])
    cleanup_done(live, live.cleanup, live.cleanup.scope, None)


# -- whole instance ----------------------------------------------------------------------------------------------------


def stop(live: LiveInstance, cause: str, *, finalize: bool = True) -> None:
    """Cancel the instance. `finally` and compensations run first, unless `finalize` is false."""
    live.stopping = (live.stopping or cause) if finalize else cause
    live.fault_pending = False
    begun = _adopt(live, [live.root, *live.root.descendants()]) if finalize else []
    doomed = [item for item in [live.root, *live.root.descendants()] if item.status not in (COMPLETED, CANCELED)]
    finalizers = begun + _finalizers(doomed) if finalize else []
    for item in doomed:
        _release(live, item)
    live.root.kids = None
    withdraw_all(live)
    if not finalize:
        live.compensations = ()
        live.cleanup.data.clear()
        for item in live.cleanup.descendants():
            _release(live, item)
        live.cleanup.kids = None
        live.queue.clear()
        return
    undo = [(item.node, item.scope) for item in reversed(live.compensations)]
    live.compensations = ()
    add_cleanup(live, finalizers + undo)
