"""The place of an instance among those of its definition: a guard row, taken and given back by commits (rule M2)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.execution.activation_slot import no_slot
from holdfast.execution.live import LiveInstance
from holdfast.model.guard import Guard, GuardRef

if TYPE_CHECKING:
    from holdfast.runtime.commits.baseline import Before, Consumed


def slots(live: LiveInstance, before: Before, consumed: Consumed) -> tuple[tuple[Guard, ...], tuple[GuardRef, ...]]:
    """Keys of the request, and the slot of the activation strategy: taken by the start or by the retry of a faulted
    instance, moved by Correlate, given back by the end. A start that ends in its first burst takes none: whoever asked has
    looked whether it is free, and the burst counts as having happened at that moment."""
    slot = live.plan.slot
    if slot is no_slot:
        return consumed.guards, ()
    held = None if before.version == 0 or before.at_rest else slot(before.correlation_id)
    wanted = None if live.status.at_rest else slot(live.correlation_id)
    taken = [*consumed.guards, *([wanted] if wanted is not None and wanted != held else [])]
    released = (held.ref,) if held is not None and held != wanted else ()
    return tuple(taken), released
