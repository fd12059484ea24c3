"""Cancellation of activities: drops bookmarks, cancels effects, withdraws queued work, and still runs `finally`.

Each cancellation has a cause, which is recorded first (rule M1). Finalizers (the `finally` of a Try, and the
compensations if the whole instance is canceled) run one after the other, innermost first, under the instance's
`cleanup` activation. Other cancellations do not reach `cleanup`, and the instance ends only after it.

An effect that finalizers wait for is *ending*: it is canceled, and its row stays until its end is committed. The next
finalizer starts when no effect is ending. So an undo never begins before the end of the work that it undoes. If the
effect is the last work of a Compensable, the Compensable is *unfinished*: should the effect succeed after all, its
compensation is registered.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from holdfast.execution.activation import CANCELED, COMPLETED, FAULTED, Activation
from holdfast.execution.journal import COMPLETED as ENDED
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
    owner = activation.owner
    begun = _adopt(live, [activation, *activation.descendants()])
    if activation not in _keep_unfinished(live, [activation, *activation.descendants()]):
        doomed = [activation, *activation.descendants()]
        finalizers = begun + _finalizers(doomed)
        for item in doomed:
            _release(live, item, wait=bool(finalizers))
        withdraw(live, doomed)
        if owner is not None and owner.kids is not None:
            owner.kids.pop(activation.id, None)
        add_cleanup(live, finalizers)
    if notify and owner is not None and not owner.status and owner.node.hooks.kid_canceled is not None:
        owner.node.hooks.kid_canceled(live, owner, activation)


def cancel_kids(live: LiveInstance, activation: Activation) -> None:
    for kid in list((activation.kids or {}).values()):
        cancel(live, kid, notify=False)
    activation.kids = None


def cancel_parts(live: LiveInstance, activation: Activation) -> None:
    """Cancel everything below an activation that has failed as a whole (timeout). Its own `finally` part still runs."""
    begun = _adopt(live, [activation, *activation.descendants()])
    _keep_unfinished(live, activation.descendants())
    doomed = activation.descendants()
    finalizers = begun + _finalizers([activation, *doomed])
    for item in doomed:
        _release(live, item, wait=bool(finalizers))
    activation.kids = None
    withdraw(live, [activation, *doomed])
    add_cleanup(live, finalizers)


def _release(live: LiveInstance, activation: Activation, *, wait: bool) -> None:
    """`wait`: finalizers wait for the end of its effect."""
    activation.status = CANCELED
    live.waiters.pop(activation.id, None)
    if live.interrupted:
        forget_interrupted(live, activation)
    if activation.bookmarks:
        forget_bookmarks(live, activation)
    request = live.effects.pop(activation.id, None)
    if request is not None:
        fresh = [item for item in live.new_effects if item is not request]
        if len(fresh) == len(live.new_effects):
            live.canceled_effects[activation.id] = request
            if wait:
                live.ending[activation.id] = request
        live.new_effects = fresh  # An effect that this burst recorded never starts.
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
    """Move finalizers and compensations that have begun under `cleanup`: a half-finished one is neither done nor undone.

    Returns the work that follows them. A part that has failed is not moved; its incident documents it.
    """
    cleanup, later = live.cleanup, list[Finalizer]()
    moved: set[int] = set()
    for item in doomed:
        unbroken = item.node.hooks.unbroken
        rest = None if unbroken is None or item.id in moved else unbroken(live, item)
        if rest is None:
            continue
        later += rest
        for kid in [kid for kid in (item.kids or {}).values() if not _has_failed(kid)]:
            assert item.kids is not None
            del item.kids[kid.id]
            kid.owner = cleanup
            cleanup.kids = {**(cleanup.kids or {}), kid.id: kid}
            cleanup.data.insert(0, (kid.node, kid.outer))
            moved.update(below.id for below in (kid, *kid.descendants()))
        for place, (node, owner, scope) in enumerate(live.queue):
            if owner is item:
                live.queue[place] = (node, cleanup, scope)
                cleanup.data.insert(0, (node, scope))
    return later


def _has_failed(activation: Activation) -> bool:
    return any(item.status == FAULTED for item in (activation, *activation.descendants()))


def add_cleanup(live: LiveInstance, finalizers: list[Finalizer]) -> None:
    if finalizers:
        live.cleanup.data.extend(finalizers)
        continue_cleanup(live)


def continue_cleanup(live: LiveInstance) -> None:
    """Start the next finalizer, unless one runs or a canceled effect has not ended.

    The data of `cleanup` lists the finalizers that run, then those that wait.
    """
    cleanup = live.cleanup
    if live.ending or cleanup.kids or any(owner is cleanup for _, owner, _ in live.queue):
        return
    if not cleanup.data and live.stopping is not None:
        cleanup.data.extend(_take_compensations(live))  # A finalizer may have registered some.
    if cleanup.data:
        node, scope = cleanup.data[0]
        live.queue.append((node, cleanup, scope))


def cleanup_done(live: LiveInstance, owner: Activation, scope: Scope, outcome: Any) -> None:
    """Continuation of all work under `cleanup`."""
    if owner.data:
        owner.data.pop(0)
    continue_cleanup(live)


def end_finalizer(live: LiveInstance, part: Activation) -> None:
    """End a finalizer under `cleanup` early, because it failed or ran Finish. `part` is an activation of it, or `cleanup`
    if the finalizer has none."""
    cleanup = live.cleanup
    while part is not cleanup and part.owner is not None and part.owner is not cleanup:
        part = part.owner
    if cleanup.data:
        cleanup.data.pop(0)
    if part is not cleanup:
        cancel(live, part, notify=False)
    continue_cleanup(live)


# -- unfinished Compensables -------------------------------------------------------------------------------------------
#
# A Compensable is unfinished if it was canceled while the effect ran that would have completed it. The effect is told to
# end, but it may have succeeded: the bank has charged the card, and only the result was on its way. So the Compensable and
# the activities down to the effect stay as they are, under `cleanup`, until the effect has ended. A result is then applied
# as usual. If it completes the Compensable, the compensation is registered: a cancel of the instance runs it, first of all
# compensations, and otherwise it waits for Compensate or a cancel. After any other end (the effect failed, was canceled or
# lost, or the body has more work), the Compensable is canceled.


def has_unfinished(live: LiveInstance) -> bool:
    """Whether a Compensable is unfinished."""
    return any(execution_id in live.waiters for execution_id in live.ending)


def _keep_unfinished(live: LiveInstance, canceled: Iterable[Activation]) -> list[Activation]:
    """Move unfinished Compensables under `cleanup`, and cancel their effects. Returns the Compensables that were moved."""
    moved: list[Activation] = []
    if not live.effects:
        return moved
    inside: set[int] = set()
    for item in canceled:
        if item.id in inside or not item.node.hooks.undoable or item.status:
            continue
        path = _path_to_effect(live, item)
        if path:
            inside.update(part.id for part in path)
            for part in path:  # Of timeouts.
                forget_bookmarks(live, part)
            _move_unfinished(live, path)
            moved.append(item)
    return moved


def _path_to_effect(live: LiveInstance, compensable: Activation) -> list[Activation]:
    """The activations down to a running effect, if nothing else runs below the Compensable; empty otherwise."""
    path, part = [compensable], compensable
    while part.kids:
        if len(part.kids) > 1 or any(owner is part for _, owner, _ in live.queue):
            return []
        (part,) = part.kids.values()
        if part.status or part.node.hooks.finalizer is not None or part.node.hooks.unbroken is not None:
            return []
        path.append(part)
    request = live.effects.get(part.id)
    runs = request is not None and all(item is not request for item in live.new_effects)
    return path if runs and len(path) > 1 else []


def _move_unfinished(live: LiveInstance, path: list[Activation]) -> None:
    cleanup, compensable, effect = live.cleanup, path[0], path[-1]
    for part in path[:-1]:
        live.waiters.pop(part.id, None)
    request = live.effects.pop(effect.id)
    live.canceled_effects[effect.id] = live.ending[effect.id] = request
    owner = compensable.owner
    if owner is not None and owner.kids is not None:
        owner.kids.pop(compensable.id, None)
    compensable.owner = cleanup
    cleanup.kids = {**(cleanup.kids or {}), compensable.id: compensable}
    cleanup.data.insert(0, (compensable.node, compensable.outer))


def compensable_of(live: LiveInstance, effect: Activation) -> Activation:
    """The unfinished Compensable of an effect."""
    part = effect
    while part.owner is not None and part.owner is not live.cleanup:
        part = part.owner
    return part


def complete_unfinished(live: LiveInstance, activation: Activation) -> None:
    """Complete an unfinished Compensable. Its owner was canceled, so nothing follows it."""
    cleanup = live.cleanup
    activation.status, activation.kids = COMPLETED, None
    live.journal.append((ENDED, activation.node.index, activation.id, live.now(), None))
    if cleanup.kids is not None:
        cleanup.kids.pop(activation.id, None)
    if cleanup.data:
        cleanup.data.pop(0)


def end_unfinished(live: LiveInstance, effect: Activation) -> None:
    """Cancel the unfinished Compensable of an effect, unless the effect has completed it."""
    compensable = compensable_of(live, effect)
    live.waiters.pop(effect.id, None)
    if not compensable.status:
        end_finalizer(live, compensable)


def wake_compensates(live: LiveInstance) -> None:
    """Continue activities that wait until no Compensable is unfinished."""
    if has_unfinished(live):
        return
    for item in [*live.root.descendants(), *live.cleanup.descendants()]:
        if item.node.hooks.all_finished is not None and not item.status:
            item.node.hooks.all_finished(live, item)


# -- whole instance ----------------------------------------------------------------------------------------------------


def stop(live: LiveInstance, cause: str, *, finalize: bool = True) -> bool:
    """Cancel the instance: its effects end, then `finally` parts and compensations run, unless `finalize` is false. Its
    incidents are resolved, since nothing of them can be retried; failures of finalizers raise new ones.

    False if there is nothing to do because it is being canceled already.
    """
    if finalize and live.stopping is not None:
        return False
    live.stopping = cause
    live.fault_pending = False
    live.incidents = []
    begun = _adopt(live, [live.root, *live.root.descendants()]) if finalize else []
    if finalize:
        _keep_unfinished(live, [live.root, *live.root.descendants()])
    doomed = [item for item in [live.root, *live.root.descendants()] if item.status not in (COMPLETED, CANCELED)]
    finalizers = begun + _finalizers(doomed) if finalize else []
    for item in doomed:
        _release(live, item, wait=finalize)
    live.root.kids = None
    withdraw_all(live)
    if finalize:
        # An unfinished Compensable may register a compensation, which is then the first to run.
        live.cleanup.data.extend(finalizers + ([] if has_unfinished(live) else _take_compensations(live)))
        continue_cleanup(live)
    else:
        _drop_cleanup(live)
    return True


def _take_compensations(live: LiveInstance) -> list[Finalizer]:
    taken, live.compensations = live.compensations, ()
    return [(item.node, item.scope) for item in reversed(taken)]


def _drop_cleanup(live: LiveInstance) -> None:
    live.compensations = ()
    live.cleanup.data.clear()
    for item in live.cleanup.descendants():
        _release(live, item, wait=False)
    live.cleanup.kids = None
    live.canceled_effects.update(live.ending)
    live.ending = {}
    live.queue.clear()
