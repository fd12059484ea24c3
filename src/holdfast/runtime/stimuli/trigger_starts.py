"""Starts of instances by triggers. A start may be repeated: the id of the instance is derived from the id of the stimulus."""

from __future__ import annotations

import logging
from hashlib import blake2b

from holdfast.errors import InvalidInput
from holdfast.model.catalog import TriggerRow
from holdfast.model.stored import InstanceKey
from holdfast.model.values import decode
from holdfast.ports import Store
from holdfast.runtime.commits.activation_slots import slot_holder
from holdfast.runtime.commits.jobs.start import Start, StartJob
from holdfast.runtime.commits.lanes import Lanes
from holdfast.runtime.commits.work_rows import Stimulus
from holdfast.runtime.plans.plans import Plans
from holdfast.runtime.stimuli.counts import StimulusCounts
from holdfast.runtime.stimuli.matching import trigger_key

logger = logging.getLogger("holdfast")


def started_id(stimulus_id: str, row: TriggerRow) -> str:
    """The id of the instance that a stimulus starts by a trigger."""
    parts = f"{stimulus_id}|{row.definition_id}|{row.id}".encode()
    return f"s{blake2b(parts, digest_size=12).hexdigest()}"


class TriggerStarts:
    def __init__(self, store: Store, plans: Plans, lanes: Lanes, counts: StimulusCounts) -> None:
        self._store = store
        self._plans = plans
        self._lanes = lanes
        self._counts = counts

    async def triggers(self, tenant: str, found: Stimulus) -> list[TriggerRow]:
        """Triggers of published definitions that the stimulus fits."""
        rows = await self._plans.of(tenant).current.triggers([trigger_key(found)])
        return [row for row in rows if row.type == found.type]

    async def triggers_exist(self, tenant: str, found: Stimulus) -> bool:
        return bool(await self._plans.of(tenant).current.triggers([trigger_key(found)]))

    async def start_all(self, tenant: str, found: Stimulus) -> list[str]:
        """Start every instance that the stimulus triggers; returns their ids, also of those that could not start."""
        return [await self._start(tenant, row, found) for row in await self.triggers(tenant, found)]

    async def _start(self, tenant: str, row: TriggerRow, found: Stimulus) -> str:
        key = InstanceKey(tenant, started_id(found.id, row))
        plan = await self._plans.of(tenant).plan(row.content)
        data = decode(found.input, plan.types)
        start = Start(
            key=key,
            plan=plan,
            content=row.content,
            inputs=data if isinstance(data, dict) else {},
            lenient=True,
            correlation_id=found.correlation_id,
            trigger=row.activity_id,
            trigger_payload=data,
            principal=found.principal,
            trace=found.trace,
        )
        if await slot_holder(self._store, tenant, plan, found.correlation_id) is None:
            try:
                job = StartJob(start)
            except InvalidInput as error:  # The inputs do not fit this definition; other definitions may start.
                logger.warning("a %s did not start '%s': %s", found.event_name or found.type, row.definition_id, error)
                self._counts.add(tenant, "refused", found)
                return key.id
            answer = await self._lanes.ask(job)
            if answer.result is not None:
                self._counts.add(tenant, "started", found)
        return key.id
