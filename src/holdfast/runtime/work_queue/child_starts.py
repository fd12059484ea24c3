"""Starts of instances by work rows: children of instances, and starts that an application wrote in its own transaction."""

from __future__ import annotations

from holdfast.errors import CodeMissing, HoldfastError, UnknownValueType, UnreadableValue, WorkflowUnknown
from holdfast.model.inputs import check_inputs
from holdfast.model.stored import InstanceKey
from holdfast.model.work import WorkRow
from holdfast.ports import Store
from holdfast.runtime.commits import work_rows
from holdfast.runtime.commits.activation_slots import slot_holder
from holdfast.runtime.commits.jobs.base import Job
from holdfast.runtime.commits.jobs.start import Start, StartJob, start_refused
from holdfast.runtime.plans.obstacles import content_of
from holdfast.runtime.plans.plans import Plans

LACKING_HERE = (CodeMissing, UnknownValueType, UnreadableValue)
"""Errors of code and classes that only this process may lack."""


class ChildStarts:
    def __init__(self, store: Store, plans: Plans) -> None:
        self._store = store
        self._plans = plans

    async def job_of(self, row: WorkRow) -> Job:
        """The job that starts the instance. Raises an error if it cannot start; see `refusal_of`."""
        request = work_rows.read_start(row)
        plans = self._plans.of(row.tenant)
        pinned = content_of(row.content)
        plan = await (plans.plan(pinned) if pinned else self._plans.find(row.tenant, request.reference))
        content = pinned or await plans.pin(plan)
        inputs = check_inputs(plan.definition, work_rows.start_inputs(request, plan.types), plan.types)
        holder = await slot_holder(self._store, row.tenant, plan, request.correlation_id)
        if holder is not None and holder != request.instance_id:
            raise HoldfastError(f"Instance {holder} is running, and '{plan.definition.id}' allows one at a time.")
        start = Start(
            key=InstanceKey(row.tenant, request.instance_id),
            plan=plan,
            content=content,
            complete=inputs,
            correlation_id=request.correlation_id,
            parent_id=request.parent_id or None,
            name=request.name,
            principal=request.principal,
            trace=request.trace,
            home=request.home,
        )
        guards = () if request.token is None else (work_rows.start_guard(request.token),)
        return StartJob(start, guards, waits=request.wait, consumes_work=row.id, wants_answer=False)


def refusal_of(row: WorkRow, error: HoldfastError) -> Job | None:
    """The job that notifies a parent that its child cannot start, with the reason; None if no parent waits, or if another
    process may start the child (rule H10)."""
    if isinstance(error, LACKING_HERE):
        return None
    request = work_rows.read_start(row)
    if not request.parent_id:
        return None
    parent, bookmark = work_rows.parent_of(request.parent_id)
    unknown = isinstance(error, WorkflowUnknown)
    return start_refused(
        InstanceKey(row.tenant, parent), bookmark, request.instance_id, str(error), row.id, unknown=unknown
    )
