"""The place of an instance among those of its definition: a guard row, taken and given back by commits (rule M2)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.execution.live import LiveInstance
from holdfast.model.definition import ActivationStrategy, Definition
from holdfast.model.guard import Guard, GuardRef, activation_slot

if TYPE_CHECKING:
    from holdfast.runtime.durable.changes import Before, Consumed


def slots(live: LiveInstance, before: Before, consumed: Consumed) -> tuple[tuple[Guard, ...], tuple[GuardRef, ...]]:
    """Keys of the request, and the slot of the activation strategy: taken by the start or by the retry of a faulted
    instance, moved by Correlate, given back by the end. A start that ends in its first burst takes none: whoever asked has
    looked whether it is free, and the burst counts as having happened at that moment."""
    if live.plan.definition.options.activation is ActivationStrategy.ALWAYS:
        return tuple(consumed.guards), ()
    held = None if before.version == 0 or before.at_rest else slot_of(live, before.correlation_id)
    wanted = None if live.status.at_rest else slot_of(live, live.correlation_id)
    taken = [*consumed.guards, *([wanted] if wanted is not None and wanted != held else [])]
    released = (held.ref,) if held is not None and held != wanted else ()
    return tuple(taken), released


def slot_of(live: LiveInstance, correlation_id: str | None) -> Guard:
    return slot_for(live.plan.definition, correlation_id)


def slot_for(definition: Definition, correlation_id: str | None) -> Guard:
    strategy = definition.options.activation
    by_definition = strategy is not ActivationStrategy.CORRELATION
    by_correlation = strategy is not ActivationStrategy.SINGLETON
    return activation_slot(
        strategy=strategy.value,
        definition_id=definition.id if by_definition else "",
        correlation_id=(correlation_id or "") if by_correlation else "",
    )
