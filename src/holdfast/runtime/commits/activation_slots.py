"""Activation slots: guard rows that limit the running instances of a definition, taken and released by commits (rule M2)."""

from __future__ import annotations

from holdfast.execution.activation_slot import no_slot
from holdfast.execution.live import LiveInstance
from holdfast.execution.plan import Plan
from holdfast.model.guard import Guard, GuardRef
from holdfast.ports import Store
from holdfast.runtime.commits.baseline import Baseline, Consumed


def slots(live: LiveInstance, before: Baseline, consumed: Consumed) -> tuple[tuple[Guard, ...], tuple[GuardRef, ...]]:
    """Guards to take and to release: idempotency keys of the request, and the slot of the activation strategy.

    A start or the retry of a faulted instance takes the slot, Correlate moves it, the end releases it. A start that ends in its
    first burst takes none: the caller has checked that the slot was free, and the burst counts as done at that moment.
    """
    slot = live.plan.slot
    if slot is no_slot:
        return consumed.guards, ()
    held = None if before.version == 0 or before.at_rest else slot(before.correlation_id)
    wanted = None if live.status.at_rest else slot(live.correlation_id)
    taken = [*consumed.guards, *([wanted] if wanted is not None and wanted != held else [])]
    released = (held.ref,) if held is not None and held != wanted else ()
    return tuple(taken), released


async def slot_holder(store: Store, tenant: str, plan: Plan, correlation_id: str | None) -> str | None:
    """The instance that holds the slot of a definition, and so prevents another start (rule M2)."""
    slot = plan.slot(correlation_id)
    if slot is None:
        return None
    holder = await store.find_guard(tenant, slot.ref)
    return None if holder is None else holder.instance_id
