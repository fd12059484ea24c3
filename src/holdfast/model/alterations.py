"""Alterations: changes to instances that live, as data; plans of them over a filter, and what a dry run says beforehand."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Any

import msgspec
from msgspec import Struct

from holdfast.model.listing import InstanceFilter
from holdfast.model.record_rows import RecordRow

ALTERATION = "alteration"
"""The kind of the records, and of the work rows that work a plan off."""
SAMPLES_MAX = 100
"""How many instances a report names."""


class ModifyVariable(Struct, frozen=True, kw_only=True, tag_field="type", tag="modify_variable"):
    """Set a variable of the workflow or of a container."""

    variable: str
    value: Any = None
    activity_id: str | None = None
    """The container whose variable it is; None is the workflow."""


class CancelActivity(Struct, frozen=True, kw_only=True, tag_field="type", tag="cancel_activity"):
    """Cancel an activity that is running."""

    activity_id: str


class ScheduleActivity(Struct, frozen=True, kw_only=True, tag_field="type", tag="schedule_activity"):
    """Run an activity of a flowchart that is at work."""

    activity_id: str


class Migrate(Struct, frozen=True, kw_only=True, tag_field="type", tag="migrate"):
    """Go on with another version of the same definition."""

    version: int
    mapping: Mapping[str, str] = {}
    """Ids of activities that have another id there: from the old one to the new one."""


class Cancel(Struct, frozen=True, kw_only=True, tag_field="type", tag="cancel"):
    """Cancel the instance; with `terminate` neither `finally` nor compensations run."""

    terminate: bool = False


Alteration = ModifyVariable | CancelActivity | ScheduleActivity | Migrate | Cancel


class Fate(StrEnum):
    """What would become of an instance."""

    APPLIES = "applies"
    """It would be altered; with a migration: it migrates."""
    STAYS = "stays"
    """There is nothing to change: it is as it should be, or has no such activity at work."""
    NEEDS_MAPPING = "needs_mapping"
    """It cannot migrate before somebody says where its activities are in the other version."""
    REFUSED = "refused"
    """It cannot be altered so; the reason is told."""


class Verdict(Struct, frozen=True, kw_only=True):
    instance_id: str
    definition_id: str
    version: int
    """Of the definition that it runs."""
    fate: Fate
    reasons: tuple[str, ...] = ()


class PlanState(StrEnum):
    PLANNED = "planned"
    RUNNING = "running"
    COMPLETED = "completed"


class AlterationPlan(Struct, frozen=True, kw_only=True):
    """Alterations for all instances that match a filter, with the progress of the plan."""

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
    """How many fitted when it was made."""
    altered: int = 0
    unchanged: int = 0
    failed: int = 0
    failures: tuple[Verdict, ...] = ()
    """The first of those that failed."""
    fates: Mapping[str, int] = {}
    """Of a dry run: how many of each."""
    verdicts: tuple[Verdict, ...] = ()
    """Of a dry run: those that need somebody first, then some of the others."""
    dry_run: bool = False

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
