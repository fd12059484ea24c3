"""Alterations of one instance: all of them in one commit, or none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from holdfast.errors import (
    DefinitionError,
    ExecutionError,
    HoldfastError,
    MigrationRefused,
    PersistenceError,
    VariableNotFound,
)
from holdfast.execution import delivery, migration, operator_actions
from holdfast.execution.journal import captured
from holdfast.execution.live import LiveInstance
from holdfast.execution.plan import Plan
from holdfast.model import values
from holdfast.model.alterations import (
    Alteration,
    Cancel,
    Fate,
    Migrate,
    ModifyVariable,
    ScheduleActivity,
    Verdict,
)
from holdfast.model.guard import Guard
from holdfast.model.instance import Status
from holdfast.model.scope import FIRST_SLOT, Scope, find
from holdfast.model.stored import InstanceKey
from holdfast.model.types import convert
from holdfast.runtime.commits.jobs.base import Job, Retries
from holdfast.runtime.commits.jobs.control import TERMINATED
from holdfast.runtime.commits.jobs.operator import OperatorRequest
from holdfast.runtime.plans.plan_cache import PlanCache

REWRITES_MAX = 20
"""Retries of a commit whose rows another commit holds."""


class Target(NamedTuple):
    """A version to migrate to."""

    plan: Plan
    content: str


Targets = Mapping[int, Target]


async def targets_of(plans: PlanCache, definition_id: str, alterations: Sequence[Alteration]) -> Targets:
    """The versions that these alterations migrate to."""
    targets: dict[int, Target] = {}
    for item in alterations:
        if isinstance(item, Migrate):
            label = await plans.find_version(definition_id, item.version)
            if label is None:
                raise DefinitionError(
                    f"There is no version {item.version} of '{definition_id}'. Choose an existing version."
                )
            targets[item.version] = Target(await plans.plan(label.content), label.content)
    return targets


class _PartlyAltered(Exception):
    """An alteration failed after earlier ones changed the instance: the burst runs again without this job."""

    def __init__(self, error: HoldfastError) -> None:
        self.error = error
        super().__init__(str(error))


class AlterJob(Job):
    __slots__ = ("alterations", "condition", "request", "targets")

    runs_code_only = False

    def __init__(
        self,
        key: InstanceKey,
        request: OperatorRequest,
        alterations: Sequence[Alteration],
        targets: Targets,
        guards: tuple[Guard, ...] = (),
    ) -> None:
        super().__init__(key, guards=guards)
        self.condition = request.condition
        self.request = request
        self.alterations = alterations
        self.targets = targets
        self.from_store = True

    def apply(self, live: LiveInstance) -> bool:
        try:
            return alter(live, self.alterations, self.targets, self.request)
        except HoldfastError as error:
            raise _PartlyAltered(error) from error

    def refuse(self, error: BaseException) -> None:
        super().refuse(error.error if isinstance(error, _PartlyAltered) else error)

    def on_failure(self, error: Exception, retries: Retries) -> None:
        if isinstance(error, PersistenceError) and self.tries < REWRITES_MAX:
            retries.again(self)  # Another commit holds one of the rows that a migration rewrites.
        else:
            super().on_failure(error, retries)


def alter(live: LiveInstance, alterations: Sequence[Alteration], targets: Targets, request: OperatorRequest) -> bool:
    """Change the instance; False if there was nothing to change. After an error `live` is half changed: discard it."""
    if live.status in (Status.FINISHED, Status.CANCELED):
        return False
    changed = [_alter(live, item, targets, request) for item in alterations]
    return any(changed)


def _alter(live: LiveInstance, item: Alteration, targets: Targets, request: OperatorRequest) -> bool:
    if isinstance(item, ModifyVariable):
        return _modify(live, item, request)
    if isinstance(item, Migrate):
        return _migrate(live, item, targets[item.version], request)
    if isinstance(item, Cancel):
        if not delivery.cancel(live, TERMINATED if item.terminate else "canceled", finalize=not item.terminate):
            return False
        request.note(live, "terminate" if item.terminate else "cancel")
        return True
    if isinstance(item, ScheduleActivity):
        request.note(live, "schedule activity", activity=item.activity_id)
        operator_actions.schedule(live, item.activity_id)
        return True
    chosen = [each for each in operator_actions.living(live, item.activity_id) if each.owner is not None]
    for activation in chosen:
        request.note(live, "cancel activity", activation)
    return bool(chosen) and operator_actions.cancel_activity(live, item.activity_id) > 0


def _modify(live: LiveInstance, item: ModifyVariable, request: OperatorRequest) -> bool:
    changed = False
    for scope in _scopes(live, item.activity_id):
        found = find(scope, item.variable)
        if found is None:
            raise VariableNotFound(item.variable)
        level, index = found
        try:
            value = convert(item.value, level[1].types[index - FIRST_SLOT], live.plan.types)
        except ValueError as error:
            raise ExecutionError(f"'{item.variable}' cannot be {item.value!r}: {error}") from error
        values.check(value, item.variable, live.plan.types)
        if level[index] != value or level[index].__class__ is not value.__class__:
            data: dict[str, Any] = {
                "variable": item.variable,
                "before": captured(level[index]),
                "value": captured(value),
            }
            request.note(live, "modify variable", **data)
            level[index] = values.copy(value)
            changed = True
    return changed


def _scopes(live: LiveInstance, activity: str | None) -> list[Scope]:
    if activity is None:
        return [live.root.scope]
    found = operator_actions.living(live, activity)
    if not found:
        raise ExecutionError(f"'{activity}' does not run in this instance now, so it has no variables.")
    return [item.scope for item in found]


def _migrate(live: LiveInstance, item: Migrate, target: Target, request: OperatorRequest) -> bool:
    before = live.plan.definition.version
    if live.plan.content_hash == target.plan.content_hash:
        return False
    reasons = migration.obstacles(live, target.plan, item.mapping)
    if reasons:
        raise MigrationRefused(live.id, item.version, reasons)
    migration.migrate(live, target.plan, item.mapping)
    live.moved_to = target.content
    request.note(live, "migrate", version=item.version, before=before)
    return True


def verdict_of(
    live: LiveInstance, alterations: Sequence[Alteration], targets: Targets, request: OperatorRequest
) -> Verdict:
    """The verdict of a dry run. It changes `live`: discard it afterwards."""
    version, definition_id = live.definition_version, live.definition_id

    def verdict(fate: Fate, *reasons: str) -> Verdict:
        return Verdict(
            instance_id=live.id, definition_id=definition_id, version=version, fate=fate, reasons=tuple(reasons)
        )

    try:
        changed = alter(live, alterations, targets, request)
    except MigrationRefused as error:
        return verdict(Fate.NEEDS_MAPPING, *error.reasons)
    except HoldfastError as error:
        return verdict(Fate.REFUSED, str(error))
    return verdict(Fate.APPLIES if changed else Fate.STAYS)
