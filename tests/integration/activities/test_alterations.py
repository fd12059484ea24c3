"""A workflow that alters other instances: the plan is a row of its commit, and its end resumes the workflow; on every store."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from holdfast import Status, Workflow, expr
from holdfast.activities import AlterationPlanCompleted, Event, Sequence, SetOutput, SubmitAlterationPlan
from holdfast.api import InstanceFilter
from holdfast.identity.records import RecordTable
from holdfast.identity.user import User
from holdfast.model.alterations import PlanState

SOON = timedelta(seconds=20)


def ordering() -> Workflow:
    return Workflow(Event("go"), id="ordering", variables={"stock": 0})


def altering(**given: Any) -> Workflow:
    return Workflow(
        Sequence(
            SubmitAlterationPlan(**given, plan_id="plan", result="counts"),
            SetOutput("plan", expr("plan")),
            SetOutput("counts", expr("counts")),
        ),
        id="altering",
        inputs={"ids": []},
        variables={"plan": "", "counts": None},
        outputs={"plan": str, "counts": dict},
    )


MODIFY = {"type": "modify_variable", "variable": "stock", "value": 7}


@pytest.mark.parametrize(
    ("principal", "wait", "allowed"),
    [("Olga", True, True), (None, True, True), ("Dora", True, False), ("Dora", False, False)],
)
async def test_the_principal_of_the_start_needs_the_permissions_of_the_route(
    cluster: Any, principal: str | None, wait: bool, allowed: bool
) -> None:
    """With users in the store, a workflow could alter instances for a principal that must not."""
    node = await cluster.node("a", work=True)
    users = RecordTable(node.store, cluster.tenant, "user", User, node.clock.now)
    for name, role in (("Olga", "operator"), ("Dora", "designer")):
        await users.add(name.lower(), User(id=name.lower(), name=name, roles=(role,), created=node.clock.now()))
    ids = await orders(node, 1)
    flow = altering(alterations=[MODIFY], wait=wait, instance_ids=expr("ids"))
    identity = (await node.start(flow, {"ids": ids}, principal=principal)).result.instance_id

    ended = await node.wait_at_rest(identity)

    (plan,), seen = (await node.alterations.list()).items, 0
    while plan.state is not PlanState.COMPLETED:
        seen = await node.store.wait_for_change(seen, SOON)
        plan = await node.alterations.get(plan.id)
    assert ended.status is (Status.FINISHED if allowed or not wait else Status.FAULTED)
    assert (await node.read(ids[0])).variables["stock"] == (7 if allowed else 0)
    assert ("instances:write and operations:write" in plan.refused) is not allowed
    assert all(plan.refused == item.message for item in ended.incidents)
    await cluster.check(node, identity)


async def orders(node: Any, count: int) -> list[str]:
    return [(await node.start(ordering())).result.instance_id for _ in range(count)]


@pytest.mark.parametrize(
    "chosen", [{"instance_ids": expr("ids")}, {"filter": {"definition_ids": ["ordering"], "statuses": ["suspended"]}}]
)
async def test_it_waits_for_the_end_of_the_plan(cluster: Any, chosen: dict[str, Any]) -> None:
    node = await cluster.node("a", work=True)
    ids = await orders(node, 3)
    flow = altering(alterations=[MODIFY], wait=True, why="stocktaking", **chosen)
    identity = (await node.start(flow, {"ids": ids}, principal="ann")).result.instance_id

    ended = await node.wait_at_rest(identity)

    assert ended.status is Status.FINISHED, ended.incidents
    plan = await node.alterations.get(ended.outputs["plan"])
    assert ended.outputs["counts"] == {"plan_id": plan.id, "total": 3, "altered": 3, "unchanged": 0, "failed": 0}
    assert (plan.state, plan.who, plan.why) == (PlanState.COMPLETED, "ann", "stocktaking")
    assert [(await node.read(name)).variables["stock"] for name in ids] == [7, 7, 7]
    await cluster.check(node, identity)


async def test_without_waiting_it_names_the_plan(cluster: Any) -> None:
    node = await cluster.node("a", work=True)
    (name,) = await orders(node, 1)
    flow = altering(alterations=[{"type": "cancel"}], instance_ids=expr("ids"))

    result = (await node.start(flow, {"ids": [name]})).result

    assert (result.status, result.outputs["plan"].startswith(result.instance_id)) == (Status.FINISHED, True)
    assert (await node.wait_at_rest(name)).status is Status.CANCELED
    assert (await node.alterations.get(result.outputs["plan"])).who == "workflow altering"


async def test_another_node_executes_the_plan_of_one_that_died(cluster: Any) -> None:
    """The commit of the activity is all that the plan needs: the first node takes no work."""
    a = await cluster.node("a")
    ids = await orders(a, 2)
    flow = altering(alterations=[MODIFY], wait=True, instance_ids=expr("ids"))
    identity = (await a.start(flow, {"ids": ids})).result.instance_id
    assert (await a.read(identity)).status is Status.SUSPENDED
    await cluster.died(a)
    b = await cluster.node("b", work=True, definitions=[ordering(), flow])

    ended = await b.wait_at_rest(identity)

    assert ended.outputs["counts"]["altered"] == 2


async def test_a_plan_of_an_operator_resumes_the_wait_for_it(cluster: Any) -> None:
    node = await cluster.node("a", work=True)
    (name,) = await orders(node, 1)
    plan = await node.alterations.plan(InstanceFilter(ids=(name,)), [MODIFY], who="ann")
    wait = Workflow(
        Sequence(AlterationPlanCompleted(expr("plan"), result="told"), SetOutput("told", expr("told"))),
        id="waiting",
        inputs={"plan": str},
        variables={"told": None},
        outputs={"told": dict},
    )
    identity = (await node.start(wait, {"plan": plan.id})).result.instance_id

    await node.alterations.run(plan.id)

    assert (await node.wait_at_rest(identity)).outputs["told"]["altered"] == 1


async def test_a_transient_workflow_stores_its_plan_too(cluster: Any) -> None:
    node = await cluster.node("a", work=True)
    (name,) = await orders(node, 1)
    submit = {"type": "SubmitAlterationPlan", "inputs": {"alterations": [{"type": "cancel"}], "instance_ids": [name]}}
    flow = {"id": "passing", "options": {"transient": True}, "root": submit}

    await node.start(flow)

    assert (await node.wait_at_rest(name)).status is Status.CANCELED


@pytest.mark.parametrize(
    ("given", "word"),
    [
        ({"alterations": [MODIFY]}, "condition"),
        ({"alterations": [MODIFY], "instance_ids": []}, "empty"),
        ({"alterations": [MODIFY], "filter": {"definition_id": "ordering"}}, "definition_id"),
        ({"alterations": [MODIFY], "filter": {"statuses": ["finished"]}}, "altered"),
        ({"alterations": [], "instance_ids": ["a"]}, "at least one"),
        ({"alterations": [{"type": "explode"}], "instance_ids": ["a"]}, "explode"),
    ],
)
async def test_a_plan_that_cannot_be_faults(cluster: Any, given: dict[str, Any], word: str) -> None:
    node = await cluster.node("a", work=True)

    result = (await node.start(altering(**given), {"ids": []})).result

    assert result.status is Status.FAULTED
    assert word in result.incidents[0].message
    assert (await node.alterations.list()).total == 0
