"""Alterations: changes to live instances as data; plans over a filter; results of a dry run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from holdfast.errors import ExecutionError
from holdfast.model.instance import Status
from holdfast.model.listing import InstanceFilter
from holdfast.model.record_rows import RecordRow

ALTERATION = "alteration"
"""Kind of the records, and of the work rows that execute a plan."""
PLAN_COMPLETED = "AlterationPlanCompleted"
"""Stimulus type that the last page of a plan sends."""
ALTERED = tuple(status.value for status in Status if status not in (Status.FINISHED, Status.CANCELED))
"""Statuses of instances that can be altered."""
SAMPLES_MAX = 100
"""Maximum number of instances in a report."""


class ModifyVariable(Struct, frozen=True, kw_only=True, tag_field="type", tag="modify_variable"):
    """Set a variable of the workflow or of a container."""

    variable: str
    value: Any = None
    activity_id: str | None = None
    """The container that declares the variable; None is the workflow."""


class CancelActivity(Struct, frozen=True, kw_only=True, tag_field="type", tag="cancel_activity"):
    """Cancel an activity that is running."""

    activity_id: str


class ScheduleActivity(Struct, frozen=True, kw_only=True, tag_field="type", tag="schedule_activity"):
    """Run an activity of a running flowchart."""

    activity_id: str


class Migrate(Struct, frozen=True, kw_only=True, tag_field="type", tag="migrate"):
    """Continue with another version of the same definition."""

    version: int
    mapping: Mapping[str, str] = {}
    """Activities whose id differs in the new version: old id to new id."""


class Cancel(Struct, frozen=True, kw_only=True, tag_field="type", tag="cancel"):
    """Cancel the instance. With `terminate`, neither `finally` nor compensations run."""

    terminate: bool = False


Alteration = ModifyVariable | CancelActivity | ScheduleActivity | Migrate | Cancel


class Fate(StrEnum):
    """Predicted result for an instance."""

    APPLIES = "applies"
    """It would be altered; with a migration it migrates."""
    STAYS = "stays"
    """Nothing to change: it already matches, or the activity is not running."""
    NEEDS_MAPPING = "needs_mapping"
    """It cannot migrate without a mapping of its activities to the other version."""
    REFUSED = "refused"
    """It cannot be altered; `reasons` explains why."""


class Verdict(Struct, frozen=True, kw_only=True):
    instance_id: str
    definition_id: str
    version: int
    """Version of the definition that it runs."""
    fate: Fate
    reasons: tuple[str, ...] = ()


PERMISSIONS = ("instances:write", "operations:write")
"""Permissions that a principal needs for a plan, by a request or by a workflow."""


class PlanState(StrEnum):
    PLANNED = "planned"
    RUNNING = "running"
    COMPLETED = "completed"


class AlterationPlan(Struct, frozen=True, kw_only=True):
    """Alterations of all instances that match a filter, with their progress."""

    id: str
    filter: InstanceFilter
    alterations: tuple[Alteration, ...]
    who: str
    why: str | None = None
    state: PlanState = PlanState.PLANNED
    created: datetime
    updated: datetime
    page: int = 0
    """The next page of instances."""
    total: int = 0
    """Number of matches when the plan was created."""
    altered: int = 0
    unchanged: int = 0
    failed: int = 0
    failures: tuple[Verdict, ...] = ()
    """The first failed instances."""
    fates: Mapping[str, int] = {}
    """Dry run: number of instances by fate."""
    verdicts: tuple[Verdict, ...] = ()
    """Dry run: instances that need attention first, then some of the others."""
    dry_run: bool = False
    principal: str | None = None
    """Principal of the instance that submitted the plan. It needs `PERMISSIONS`."""
    refused: str = ""
    """The reason why the plan was not executed."""

    @property
    def done(self) -> int:
        return self.altered + self.unchanged + self.failed


def record_of(plan: AlterationPlan, tenant: str, version: int = 1) -> RecordRow:
    return RecordRow(
        tenant=tenant,
        kind=ALTERATION,
        id=plan.id,
        version=version,
        owner=plan.who,
        state=plan.state.value,
        created=plan.created,
        updated=plan.updated,
        payload=msgspec.json.encode(plan),
    )


_read = msgspec.json.Decoder(AlterationPlan).decode


def plan_of(row: RecordRow) -> AlterationPlan:
    return _read(row.payload)


def completed_payload(plan_id: str) -> dict[str, Any]:
    """The payload of the stimulus `PLAN_COMPLETED`."""
    return {"plan_id": plan_id}


def counts_of(plan: AlterationPlan) -> dict[str, Any]:
    refused = {"refused": plan.refused} if plan.refused else {}
    return {
        **refused,
        "plan_id": plan.id,
        "total": plan.total,
        "altered": plan.altered,
        "unchanged": plan.unchanged,
        "failed": plan.failed,
    }


# -- alterations and filters as given ----------------------------------------------------------------------------------


def alterations_of(given: Sequence[Alteration | Mapping[str, Any]]) -> tuple[Alteration, ...]:
    """Alterations as given in Python or as JSON."""
    try:
        found = tuple(msgspec.convert(dict(item), Alteration) if isinstance(item, Mapping) else item for item in given)
    except msgspec.ValidationError as error:
        raise ExecutionError(f"This is not an alteration: {error}.") from error
    if not found:
        raise ExecutionError("A plan needs at least one alteration.")
    return found


def filter_of(given: Mapping[str, Any]) -> InstanceFilter:
    """A filter from JSON. Raises `ExecutionError` for an unknown condition, and for a filter without any condition."""
    unknown = [name for name in given if name not in InstanceFilter.__struct_fields__]
    if unknown:
        known = ", ".join(InstanceFilter.__struct_fields__)
        raise ExecutionError(f"A filter has no condition '{unknown[0]}'. It has: {known}.")
    try:
        found = msgspec.convert(dict(given), InstanceFilter)
    except msgspec.ValidationError as error:
        raise ExecutionError(f"This is not a filter of instances: {error}.") from error
    if found == InstanceFilter():
        raise ExecutionError("The filter has no condition. Name instances or conditions; for all, list the statuses.")
    return found


def altered_filter(filter: InstanceFilter) -> InstanceFilter:
    """The same filter for instances that can be altered. Raises `ExecutionError` if its statuses exclude them all."""
    statuses = tuple(status for status in filter.statuses or ALTERED if status in ALTERED)
    if not statuses:
        raise ExecutionError(f"None of {', '.join(filter.statuses)} can be altered. Use: {', '.join(ALTERED)}.")
    return replace(filter, statuses=statuses)
