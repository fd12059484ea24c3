"""Alterations: variables, activities and versions of instances that live, one at a time or by plan."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from holdfast import Status, Workflow, expr
from holdfast.activities import (
    Delay,
    Event,
    Flowchart,
    FlowJoin,
    Fork,
    HumanTask,
    Sequence,
    SetOutput,
    SetVariable,
    WriteLine,
)
from holdfast.errors import ExecutionError, InstanceEnded, MigrationRefused, VariableNotFound
from holdfast.management.instances.alterations import Alterations
from holdfast.model.alterations import (
    AlterationPlan,
    Cancel,
    CancelActivity,
    Migrate,
    ModifyVariable,
    PlanState,
    ScheduleActivity,
    plan_of,
)
from holdfast.model.definition import Variable
from holdfast.model.instance import JournalEvent
from holdfast.model.listing import InstanceFilter
from holdfast.model.record_rows import RecordQuery
from holdfast.model.tasks import TASK, task_of
from holdfast.model.work import WorkKind
from holdfast.runtime.commits.plan_rows import Page, page_row
from tests.support.node import node_of


def ordering(version: int = 1, *, wait: str = "wait", extra: Any = (), variables: Any = ()) -> Workflow:
    return Workflow(
        Sequence(
            SetVariable("sum", expr("sum + 1"), id="first"),
            Event("go", id=wait),
            *extra,
            SetOutput("sum", expr("sum"), id="last"),
            id="steps",
        ),
        id="ordering",
        version=version,
        variables=[
            Variable(name="sum", type="integer", default=0),
            Variable(name="text", default="a"),
            *(Variable(name=name, default=default) for name, default in dict(variables).items()),
        ],
        outputs={"sum": int},
    )


async def published(runtime: Any, wanted: Workflow) -> None:
    """Put a version into the store."""
    await runtime.plans.pin(runtime.plan_of(wanted))


async def started(runtime: Any, wanted: Workflow, **options: Any) -> str:
    return str((await runtime.start(wanted, **options)).result.instance_id)


def acts(entries: Any) -> list[dict[str, Any]]:
    return [dict(entry.data) for entry in entries if entry.event is JournalEvent.OPERATED]


async def worked_off(alterations: Alterations, plan: AlterationPlan) -> AlterationPlan:
    seen, store = 0, alterations._runtime.store
    while (plan := await alterations.get(plan.id)).state is not PlanState.COMPLETED:
        seen = await store.wait_for_change(seen, timedelta(seconds=1))
    return plan


# -- one instance ------------------------------------------------------------------------------------------------------


async def test_a_variable_is_modified(cluster: Any) -> None:
    a = await cluster.node("a")
    alterations, identity = Alterations(a), await started(a, ordering())

    assert await alterations.alter(identity, [ModifyVariable(variable="sum", value=41)], who="ann", why="wrong")
    assert not await alterations.alter(
        identity, [{"type": "modify_variable", "variable": "sum", "value": 41}], who="ann"
    )

    await a.resume(identity)
    assert (await a.read(identity)).outputs == {"sum": 41}
    told = {"verb": "modify variable", "who": "ann", "why": "wrong", "variable": "sum", "before": 1, "value": 41}
    assert acts(await a.journal(identity)) == [told]
    await cluster.check(a, identity)


async def test_all_of_it_or_nothing(cluster: Any) -> None:
    a = await cluster.node("a")
    alterations, identity = Alterations(a), await started(a, ordering())
    version = (await a.row(identity)).version

    with pytest.raises(VariableNotFound):
        await alterations.alter(
            identity, [ModifyVariable(variable="sum", value=5), ModifyVariable(variable="nothing")], who="ann"
        )
    with pytest.raises(ExecutionError, match="sum"):
        await alterations.alter(identity, [ModifyVariable(variable="sum", value=[])], who="ann")

    assert (await a.row(identity)).version == version
    assert (await a.read(identity)).variables["sum"] == 1


async def test_activities_are_canceled_and_scheduled(cluster: Any) -> None:
    a = await cluster.node("a")
    alterations = Alterations(a)
    one, two = Event("one", id="one"), Event("two", id="two")
    join, end = FlowJoin(mode="wait_all", id="join"), WriteLine("end", id="end")
    start = WriteLine("start", id="start")
    ways = [start >> one, start >> two, one >> join, two >> join, join >> end]
    chart = Flowchart(start, one, two, join, end, connections=ways)
    identity = await started(a, Workflow(chart, id="chart"))

    assert await alterations.alter(identity, [CancelActivity(activity_id="two")], who="ann")
    assert not await alterations.alter(identity, [CancelActivity(activity_id="two")], who="ann")
    assert [item.activity_id for item in (await a.read(identity)).bookmarks] == ["one"]
    assert await alterations.alter(identity, [ScheduleActivity(activity_id="two")], who="ann")
    with pytest.raises(ExecutionError, match="'nothing'"):
        await alterations.alter(identity, [ScheduleActivity(activity_id="nothing")], who="ann")

    assert sorted(item.activity_id for item in (await a.read(identity)).bookmarks) == ["one", "two"]
    assert [act["verb"] for act in acts(await a.journal(identity))] == ["cancel activity", "schedule activity"]
    await cluster.check(a, identity)


async def test_cancel_is_an_alteration_too(cluster: Any) -> None:
    a = await cluster.node("a")
    alterations, identity = Alterations(a), await started(a, ordering())

    assert await alterations.alter(identity, [Cancel()], who="ann")
    with pytest.raises(InstanceEnded):
        await alterations.alter(identity, [Cancel()], who="ann")
    assert (await a.read(identity)).status is Status.CANCELED


# -- migration ---------------------------------------------------------------------------------------------------------


async def test_an_instance_goes_on_with_another_version(cluster: Any) -> None:
    a, b = await cluster.node("a"), await cluster.node("b")
    second = ordering(2, extra=[SetVariable("sum", expr("sum + more"), id="added")], variables={"more": 100})
    identity = await started(a, ordering())
    await published(a, second)

    assert await Alterations(a).alter(identity, [Migrate(version=2)], who="ann", why="new tax")
    assert not await Alterations(b).alter(identity, [Migrate(version=2)], who="ann")

    await b.resume(identity)
    ended = await b.read(identity)
    assert (ended.status, ended.outputs) == (Status.FINISHED, {"sum": 101})
    assert (await a.row(identity)).definition_version == 2
    assert acts(await b.journal(identity)) == [
        {"verb": "migrate", "who": "ann", "why": "new tax", "version": 2, "before": 1}
    ]
    await cluster.check(b, identity)


async def test_what_has_another_id_there_must_be_mapped(cluster: Any) -> None:
    a = await cluster.node("a")
    alterations, identity = Alterations(a), await started(a, ordering())
    await published(a, ordering(2, wait="approval"))

    with pytest.raises(MigrationRefused, match="'wait'") as refused:
        await alterations.alter(identity, [Migrate(version=2)], who="ann")
    with pytest.raises(MigrationRefused, match="same type"):
        await alterations.alter(identity, [Migrate(version=2, mapping={"wait": "last"})], who="ann")
    assert refused.value.reasons
    assert (await a.row(identity)).definition_version == 1

    await alterations.alter(identity, [Migrate(version=2, mapping={"wait": "approval"})], who="ann")

    moved = await a.read(identity)
    assert [item.activity_id for item in moved.bookmarks] == ["approval"]
    await a.resume(identity)
    assert (await a.read(identity)).outputs == {"sum": 1}
    await cluster.check(a, identity)


def napping(version: int = 1, suffix: str = "", nap: timedelta = timedelta(days=1)) -> Workflow:
    return Workflow(
        Fork(
            Event("go", id=f"wait{suffix}"),
            Delay(nap, id=f"nap{suffix}"),
            HumanTask("Look", id=f"look{suffix}"),
            id="both",
        ),
        id="napping",
        version=version,
    )


async def test_rows_of_an_instance_that_migrates_name_what_is_there_now(cluster: Any) -> None:
    a = await cluster.node("a")
    alterations, identity = Alterations(a), await started(a, napping())
    await published(a, napping(2, "ing"))
    mapping = {"wait": "waiting", "nap": "naping", "look": "looking"}

    await alterations.alter(identity, [Migrate(version=2, mapping=mapping)], who="ann")

    store, content = a.store, (await a.row(identity)).content
    marks = {mark.activity_id for mark in await store.bookmarks_of(cluster.tenant, identity)}
    export = await store.export_instance(cluster.tenant, identity)
    assert export is not None
    timers = [row for row in export.work if row.kind == WorkKind.TIMER]
    tasks = await store.list_records(RecordQuery(tenant=cluster.tenant, kind=TASK, limit=10))
    assert marks == {"waiting", "naping", "looking"}
    assert [(row.content, row.bookmark_seq is not None) for row in timers] == [(content, True)]
    assert [task_of(row).activity_id for row in tasks] == ["looking"]
    await cluster.check(a, identity)

    waits = next(mark for mark in (await a.read(identity)).bookmarks if mark.activity_id == "waiting")
    await a.resume(identity, waits.id)
    assert {mark.activity_id for mark in await store.bookmarks_of(cluster.tenant, identity)} == {
        "naping",
        "looking",
    }
    await cluster.check(a, identity)


async def test_a_timer_that_somebody_has_in_hand_does_not_keep_an_instance_from_migrating(cluster: Any) -> None:
    a, b = await cluster.node("a"), await cluster.node("b")
    identity = await started(a, napping(nap=timedelta(milliseconds=1)))
    await published(a, napping(2, "ing"))
    migrate = Migrate(version=2, mapping={"wait": "waiting", "nap": "naping", "look": "looking"})

    async with asyncio.timeout(30):
        held = False
        while not held:
            async with b.store.claim(node_of(b).components.poller.queues, 10) as claim:
                held = bool(claim.rows)
                if held:
                    moving = asyncio.create_task(Alterations(a).alter(identity, [migrate], who="ann"))
                    await asyncio.wait([moving], timeout=0.5)
        assert await moving
    assert (await a.row(identity)).definition_version == 2
    await cluster.check(a, identity)


async def test_a_flowchart_carries_its_visits_over(cluster: Any) -> None:
    def chart(version: int, *, renamed: bool = False) -> Workflow:
        start, one = WriteLine("start", id="start"), Event("one", id="uno" if renamed else "one")
        two, join = Event("two", id="two"), FlowJoin(mode="wait_all", id="join")
        end, more = SetOutput("out", 1, id="end"), WriteLine("more", id="more")
        behind = [join >> more, more >> end] if renamed else [join >> end]
        nodes = [more, end, join, two, one, start] if renamed else [start, one, two, join, end]
        ways = [start >> one, start >> two, one >> join, two >> join, *behind]
        return Workflow(
            Flowchart(*nodes, connections=ways, start="start"), id="chart", version=version, outputs={"out": int}
        )

    a = await cluster.node("a")
    identity = await started(a, chart(1))
    await a.resume(identity, (await a.read(identity)).bookmark("one").id)
    await published(a, chart(2, renamed=True))

    await Alterations(a).alter(identity, [Migrate(version=2, mapping={"one": "uno"})], who="ann")

    await a.resume(identity)
    ended = await a.read(identity)
    assert (ended.status, ended.outputs) == (Status.FINISHED, {"out": 1})


async def test_branches_that_are_counted_must_stay_the_same(cluster: Any) -> None:
    def forked(version: int, *names: str) -> Workflow:
        return Workflow(Fork(*(Event(name, id=name) for name in names), id="fork"), id="forked", version=version)

    a = await cluster.node("a")
    identity = await started(a, forked(1, "x", "y"))
    await published(a, forked(2, "x", "y", "z"))

    with pytest.raises(MigrationRefused, match="'fork'"):
        await Alterations(a).alter(identity, [Migrate(version=2)], who="ann")


# -- plans -------------------------------------------------------------------------------------------------------------


async def test_a_dry_run_says_what_would_become_of_each(cluster: Any) -> None:
    a = await cluster.node("a")
    alterations = Alterations(a)
    second = Workflow(
        Sequence(Event("other", id="later"), Event("go", id="wait"), id="steps"),
        id="ordering",
        version=2,
        variables={"sum": 0},
    )
    old = [await started(a, ordering()) for _ in range(3)]
    new = await started(a, second)
    third = Workflow(Sequence(Event("go", id="wait"), id="steps"), id="ordering", version=3, variables={"sum": 0})
    await published(a, third)
    ended = await started(a, ordering())
    await a.resume(ended)
    before = {identity: (await a.row(identity)).version for identity in [*old, new, ended]}

    to_third = await alterations.plan(InstanceFilter(), [Migrate(version=3)], dry_run=True, who="ann")
    to_second = await alterations.plan(InstanceFilter(), [Migrate(version=2)], dry_run=True, who="ann")
    nowhere = await alterations.plan(InstanceFilter(), [Migrate(version=9)], dry_run=True, who="ann")

    assert to_third.fates == {"applies": 3, "needs_mapping": 1}
    assert (to_third.verdicts[0].instance_id, to_third.verdicts[0].fate) == (new, "needs_mapping")
    assert "'later'" in to_third.verdicts[0].reasons[0]
    assert to_second.fates == {"applies": 3, "stays": 1}
    assert nowhere.fates == {"refused": 4}
    assert {identity: (await a.row(identity)).version for identity in before} == before
    assert (await alterations.list()).items == ()


async def test_a_plan_is_worked_off_by_the_cluster(cluster: Any) -> None:
    a = await cluster.node("a", work=True)
    await cluster.node("b", work=True)
    alterations = Alterations(a)
    ids = [await started(a, ordering(), name="old" if number % 10 else "new") for number in range(120)]
    await published(a, ordering(2, extra=[SetVariable("sum", 7, id="added")]))
    changes: Any = [Migrate(version=2), {"type": "modify_variable", "variable": "text", "value": "b"}]

    plan = await alterations.plan(InstanceFilter(names=("old",)), changes, who="ann", why="new tax")
    assert (plan.state, plan.total) == (PlanState.PLANNED, 108)
    assert (await a.row(ids[1])).definition_version == 1
    await asyncio.gather(*(alterations.run(plan.id) for _ in range(5)))
    plan = await worked_off(alterations, plan)

    assert (plan.altered, plan.unchanged, plan.failed, plan.done) == (108, 0, 0, 108)
    versions = [(await a.row(identity)).definition_version for identity in ids]
    assert versions == [1, *[2] * 9] * 12
    assert [item.id for item in (await alterations.list()).items] == [plan.id]
    assert len(acts(await a.journal(ids[1]))) == 2
    assert (await alterations.run(plan.id)).state is PlanState.COMPLETED


async def test_a_page_that_is_done_again_alters_nothing_twice(cluster: Any) -> None:
    a = await cluster.node("a")
    alterations = Alterations(a)
    ids = [await started(a, ordering()) for _ in range(3)]
    bad = await started(a, Workflow(Event("x"), id="ordering", version=5))
    plan = await alterations.plan(InstanceFilter(), [ModifyVariable(variable="sum", value=9)], who="ann")
    row = page_row(cluster.tenant, Page(plan=plan.id), a.clock.now())
    # There is no such row: the page's commit is lost, what it altered is altered.
    await node_of(a).components.alterations.execute(row)
    record = await a.store.get_record(cluster.tenant, "alteration", plan.id)
    assert plan_of(record).state is PlanState.PLANNED
    versions = [(await a.row(identity)).version for identity in ids]

    await alterations.run(plan.id)
    node_of(a).take_work()
    plan = await worked_off(alterations, plan)

    assert (plan.altered, plan.failed) == (3, 1)
    assert [item.instance_id for item in plan.failures] == [bad]
    assert [(await a.row(identity)).version for identity in ids] == versions


def test_a_plan_knows_how_far_it_is() -> None:
    empty = InstanceFilter()
    now = datetime.now(UTC)
    plan = AlterationPlan(id="p", filter=empty, alterations=(Cancel(),), who="ann", created=now, updated=now)

    assert replace(plan, altered=2, unchanged=3, failed=4).done == 9
