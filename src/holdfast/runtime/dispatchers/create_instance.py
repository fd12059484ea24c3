"""An instance that is only put there: pending until somebody runs it."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from holdfast.model.requests import Dispatched
from holdfast.runtime.commits import work_rows
from holdfast.runtime.commits.starts import Start, pending_job

if TYPE_CHECKING:
    from holdfast.runtime.facade import Runtime

HELD_BACK = timedelta(days=36_500)
"""Every live instance has a waker (rule M11): this one's row is due when nobody asks any more."""


async def create(runtime: Runtime, asked: Start) -> Dispatched:
    node = runtime.node
    if (holder := await node.slot_holder(asked.plan, asked.correlation_id)) is not None:
        return Dispatched(existing=(holder,), status=(await node.row(holder)).status)
    now = node.clock.now()
    begins = work_rows.begin(node.tenant, asked.instance_id, asked.content, now, due=now + HELD_BACK)
    answer = await runtime.ask(pending_job(node, asked, begins))
    if answer.existing is None:
        return Dispatched(instance_ids=(asked.instance_id,))
    return Dispatched(existing=(answer.existing,), status=(await node.row(answer.existing)).status)
