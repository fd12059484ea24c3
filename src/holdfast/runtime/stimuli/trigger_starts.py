"""Instances that a stimulus starts. Doing it twice is harmless: their ids are made of the stimulus' id."""

from __future__ import annotations

import logging
from collections.abc import Callable
from hashlib import blake2b
from typing import TYPE_CHECKING

from holdfast.errors import InvalidInput
from holdfast.model.catalog import TriggerRow
from holdfast.model.values import decode
from holdfast.runtime.commits.starts import Start, start_job
from holdfast.runtime.commits.work_rows import Stimulus
from holdfast.runtime.stimuli import matching

if TYPE_CHECKING:
    from holdfast.runtime.cluster.node import Node

logger = logging.getLogger("holdfast")

Count = Callable[[str, Stimulus], None]


def started_id(stimulus_id: str, row: TriggerRow) -> str:
    """The id of the instance that a stimulus starts: the same, however often it is done."""
    parts = f"{stimulus_id}|{row.definition_id}|{row.id}".encode()
    return f"s{blake2b(parts, digest_size=12).hexdigest()}"


async def start_all(node: Node, found: Stimulus, count: Count) -> list[str]:
    """Start what the stimulus triggers; the ids that these instances have, also those that could not start."""
    rows = await node.pins.current.triggers([matching.trigger_key(found)])
    return [await _start(node, row, found, count) for row in rows if row.type == found.type]


async def _start(node: Node, row: TriggerRow, found: Stimulus, count: Count) -> str:
    identity = started_id(found.id, row)
    plan = await node.pins.plan(row.content)
    data = decode(found.input, plan.types)
    asked = Start(
        plan=plan,
        content=row.content,
        instance_id=identity,
        inputs=data if isinstance(data, dict) else {},
        lenient=True,
        correlation_id=found.correlation_id,
        trigger=row.activity_id,
        trigger_payload=data,
        principal=found.principal,
        trace=found.trace,
    )
    if await node.slot_holder(plan, found.correlation_id) is None:
        try:
            job = start_job(node, asked)
        except InvalidInput as error:  # It cannot start by this; the others can.
            logger.warning("a %s did not start '%s': %s", found.event_name or found.type, row.definition_id, error)
            count("refused", found)
            return identity
        assert job.answer is not None
        node.submit(job)
        answer = await job.answer
        if answer.result is not None:
            count("started", found)
    return identity
