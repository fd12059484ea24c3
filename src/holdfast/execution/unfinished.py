"""Unfinished Compensables: canceled while the effect ran that would have completed them (rule M1).

The effect is told to end, but it may have succeeded: the bank has charged the card, and only the result was on its way. So
the Compensable and the activities down to the effect stay as they are, under the instance's `cleanup` activation, until the
effect has ended. A result is then applied as usual. If it completes the Compensable, the compensation is registered: a cancel
of the instance runs it, first of all compensations, and otherwise it waits for Compensate or a cancel. After any other end
(the effect failed, was canceled or lost, or the body has more work), the Compensable is canceled.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.execution.activation import COMPLETED, Activation
from holdfast.execution.journal import COMPLETED as ENDED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from holdfast.execution.live import LiveInstance


def exist(live: LiveInstance) -> bool:
    """Whether a Compensable is unfinished."""
    return any(execution_id in live.waiters for execution_id in live.ending)


def keep(
    live: LiveInstance, canceled: Iterable[Activation], forget_bookmarks: Callable[[LiveInstance, Activation], None]
) -> list[Activation]:
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
            _move(live, path)
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


def _move(live: LiveInstance, path: list[Activation]) -> None:
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


def complete(live: LiveInstance, activation: Activation) -> None:
    """Complete an unfinished Compensable. Its owner was canceled, so nothing follows it."""
    cleanup = live.cleanup
    activation.status, activation.kids = COMPLETED, None
    live.journal.append((ENDED, activation.node.index, activation.id, live.now(), None))
    if cleanup.kids is not None:
        cleanup.kids.pop(activation.id, None)
    if cleanup.data:
        cleanup.data.pop(0)
