"""Alteration activities: submit a plan that alters other instances, and wait for its end.

The plan and the row of its first page are part of the instance's commit (rule H9), so a crash neither loses nor repeats
the plan. The commit of the last page adds a stimulus with the counts.
"""

from __future__ import annotations

from typing import Any

from holdfast.authoring.activity import Activity
from holdfast.authoring.fields import output
from holdfast.errors import ActivityFault
from holdfast.execution.activation import Activation
from holdfast.execution.builder import NodeBuilder
from holdfast.execution.live import LiveInstance
from holdfast.execution.plan import Op
from holdfast.execution.record import NewBookmark
from holdfast.model.alterations import (
    PLAN_COMPLETED,
    AlterationPlan,
    PlanState,
    alterations_of,
    altered_filter,
    completed_payload,
    filter_of,
)
from holdfast.model.instance import Bookmark
from holdfast.model.scope import Scope
from holdfast.model.types import convert
from holdfast.ports import Context


class SubmitAlterationPlan(Activity, pure=True, category="Alterations", icon="layers"):
    """Submits a plan that alters all instances that match, and continues at once, or waits for its end with `wait`. The
    principal that started the workflow needs the permissions instances:write and operations:write; otherwise the plan is
    refused, and with `wait` this activity faults.
    """

    alterations: list[Any]
    """Alterations as JSON: `[{"type": "cancel"}]`. Types: modify_variable, cancel_activity, schedule_activity, migrate,
    cancel.
    """
    instance_ids: list[str] | None = None
    """Ids of the instances to alter."""
    filter: dict[str, Any] | None = None
    """Conditions that the instances must meet: `{"definition_ids": ["order"], "statuses": ["suspended"]}`."""
    why: str | None = None
    """Reason, for the journals of the altered instances. Default: names this instance."""
    wait: bool = False
    """Wait until the plan has completed."""
    plan_id: str = output()
    """Id of the plan."""
    result: Any = output()
    """`{"plan_id", "total", "altered", "unchanged", "failed"}`, if it waits."""

    @classmethod
    def compile(cls, builder: NodeBuilder) -> Op:
        node = builder.node
        inputs = {name: builder.input(name) for name in ("alterations", "instance_ids", "filter", "why", "wait")}
        put_id, put_result = builder.output("plan_id"), builder.output("result")

        def resume(live: LiveInstance, activation: Activation, bookmark: Bookmark, payload: Any) -> None:
            if refused := payload.get("refused"):
                raise ActivityFault(refused)
            put_result(live, activation.outer, payload)
            live.complete(activation)

        node.hooks.resume = resume

        def op(live: LiveInstance, owner: Activation, scope: Scope) -> None:
            given = {name: read(scope) for name, read in inputs.items()}
            activation = live.activate(node, owner, scope)
            plan = _plan(live, f"{live.id}-{activation.id}", given)
            live.submitted_plans = (*live.submitted_plans, plan)
            put_id(live, scope, plan.id)
            if given["wait"]:
                live.bookmark(activation, NewBookmark(name=PLAN_COMPLETED, payload=completed_payload(plan.id)))
            else:
                live.complete(activation)

        return op


class AlterationPlanCompleted(Activity, pure=True, trigger=True, category="Alterations", icon="hourglass"):
    """Waits until an alteration plan completes."""

    plan_id: str
    """Id of the plan."""
    result: Any = output()
    """`{"plan_id", "total", "altered", "unchanged", "failed"}`."""

    def execute(self, context: Context) -> None:
        if context.is_trigger:
            self.completed(context, context.trigger_payload)
        else:
            context.bookmark(completed_payload(self.plan_id), resume=self.completed)

    def completed(self, context: Context, payload: Any) -> None:
        context.set_output("result", payload)
        context.complete()


def _plan(live: LiveInstance, plan_id: str, given: dict[str, Any]) -> AlterationPlan:
    if not live.defers_steps:
        raise ActivityFault("A runner has no other instances to alter. Run the workflow on a runtime with a store.")
    listed, ids = convert(given["alterations"], "list"), given["instance_ids"]
    if ids is not None and not ids:
        raise ActivityFault(
            "`instance_ids` is empty, so there is nothing to alter. Leave it out to use only the filter."
        )
    wanted = filter_of(
        {
            **(given["filter"] or {}),
            **({} if ids is None else {"ids": [str(item) for item in convert(ids, "list")]}),
        }
    )
    now = live.moment()
    return AlterationPlan(
        id=plan_id,
        filter=altered_filter(wanted),
        alterations=alterations_of(listed),
        who=live.principal or f"workflow {live.definition_id}",
        principal=live.principal,
        why=given["why"] or f"Submitted by instance {live.id}",
        state=PlanState.RUNNING,
        created=now,
        updated=now,
    )


ACTIVITIES = (SubmitAlterationPlan, AlterationPlanCompleted)
