"""Creation of an instance that stays pending until a caller runs it."""

from __future__ import annotations

from datetime import timedelta

from holdfast.model.requests import Dispatched
from holdfast.runtime.commits import work_rows
from holdfast.runtime.commits.jobs.start import PendingJob, Start
from holdfast.runtime.dispatchers.host import DispatchHost

PENDING_DELAY = timedelta(days=36_500)
"""Every live instance has a work row that wakes it (rule M11). The row of a created instance is due in a hundred years."""


async def create(host: DispatchHost, start: Start) -> Dispatched:
    """Create the instance as pending; the answer names the instance that holds the slot or the id, if there is one."""
    if (holder := await host.slot_holder(start.plan, start.correlation_id)) is not None:
        return Dispatched(existing=(holder,), status=(await host.row(holder)).status)
    now = host.clock.now()
    begins = work_rows.begin(host.tenant, start.key.id, start.content, now, due=now + PENDING_DELAY)
    answer = await host.ask(PendingJob(start, begins))
    if answer.existing is None:
        return Dispatched(instance_ids=(start.key.id,))
    return Dispatched(existing=(answer.existing,), status=(await host.row(answer.existing)).status)
