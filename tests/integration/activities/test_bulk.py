"""Many children of one parent: started by its commits, at most so many at a time, folded back into few commits."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from holdfast import Status, Workflow, expr
from holdfast.activities import (
    BulkDispatchWorkflows,
    DispatchWorkflow,
    Event,
    Fault,
    If,
    Sequence,
    SetOutput,
    SetVariable,
)
from holdfast.model.listing import InstanceFilter, InstanceQuery
from holdfast.model.stored import InstanceKey


def doubling() -> Workflow:
    return Workflow(
        Sequence(
            If(expr("item == 3"), then=Fault("three is too many")),
            SetOutput("double", expr("item * 2 + extra")),
        ),
        id="doubling",
        inputs={"item": int, "extra": 0},
        outputs={"double": int},
    )


def waiting() -> Workflow:
    return Workflow(Event("go"), id="waiting", inputs={"item": int})


def bulk(workflow: str = "doubling", **options: Any) -> Workflow:
    given: dict[str, Any] = {
        "items": expr("list(range(count))"),
        "input": expr("{'extra': 100}"),
        "child_completed": SetVariable("good", expr("good + 1")),
        "child_faulted": SetVariable("bad", expr("bad + [child['position']]")),
    }
    return Workflow(
        Sequence(
            BulkDispatchWorkflows(
                workflow,
                results="results",
                **(given | options),
            ),
            SetOutput("results", expr("results")),
            SetOutput("counts", expr("[good, bad]")),
        ),
        id="bulk",
        inputs={"count": int},
        variables={"results": None, "good": 0, "bad": []},
        outputs={"results": list, "counts": list},
    )


async def test_results_come_in_the_order_of_the_items(cluster: Any) -> None:
    a = await cluster.node("a", definitions=[doubling()], work=True)
    identity = (await a.start(bulk(limit=2), {"count": 6})).result.instance_id

    ended = await a.wait_at_rest(identity)

    results = ended.outputs["results"]
    assert [item["outputs"].get("double") for item in results] == [100, 102, 104, None, 108, 110]
    assert [item["status"] for item in results] == [*["finished"] * 3, "faulted", *["finished"] * 2]
    assert ended.outputs["counts"] == [5, [3]]
    assert results[4]["instance_id"] == f"{identity}-{results[4]['instance_id'].split('-')[-2]}-4"
    await cluster.check(a, identity)


async def test_at_most_so_many_are_at_work(cluster: Any) -> None:
    a = await cluster.node("a", definitions=[waiting()], work=True)
    identity = (await a.start(bulk("waiting", limit=3, input=None), {"count": 7})).result.instance_id
    alive: list[int] = []
    query = InstanceQuery(tenant=cluster.tenant, filter=InstanceFilter(parent_id=identity, statuses=("suspended",)))
    seen = 0
    while (await a.read(identity)).status is not Status.FINISHED:
        children = (await a.store.search(query)).items
        alive.append(len(children))
        if children:
            await asyncio.gather(*(a.resume(child.id) for child in children))
        else:
            seen = await a.store.wait_for_change(seen, timedelta(seconds=1))

    assert max(alive) <= 3
    assert len((await a.read(identity)).outputs["results"]) == 7


async def test_canceling_the_parent_reaches_all_that_are_at_work(cluster: Any) -> None:
    a = await cluster.node("a", definitions=[waiting()], work=True)
    identity = (await a.start(bulk("waiting", input=None), {"count": 20})).result.instance_id
    query = InstanceQuery(tenant=cluster.tenant, filter=InstanceFilter(parent_id=identity, statuses=("suspended",)))
    seen = 0
    while len(first := (await a.store.search(query)).items) < 20:
        seen = await a.store.wait_for_change(seen, timedelta(seconds=1))
    await a.resume(first[0].id)

    await a.cancel(identity)

    ends = [await a.wait_at_rest(child.id) for child in first]
    assert [end.status for end in ends] == [Status.FINISHED, *[Status.CANCELED] * 19]


async def test_without_waiting_it_goes_on_at_once(cluster: Any) -> None:
    a = await cluster.node("a", definitions=[doubling()], work=True)
    identity = (await a.start(bulk(wait=False), {"count": 5})).result.instance_id

    ended = await a.wait_at_rest(identity)

    results = ended.outputs["results"]
    assert [item["status"] for item in results] == ["pending"] * 5
    last = await ended_child(a, results[4]["instance_id"])
    assert last.outputs == {"double": 108}
    assert (await a.row(results[4]["instance_id"])).parent_id == identity


async def ended_child(runtime: Any, identity: str) -> Any:
    """Wait for an instance that may not be there yet."""
    seen, key = 0, InstanceKey(runtime.tenant, identity)
    while key not in await runtime.store.versions_of([key]):
        seen = await runtime.store.wait_for_change(seen, timedelta(seconds=1))
    return await runtime.wait_at_rest(identity)


async def test_no_items_are_done_at_once(cluster: Any) -> None:
    a = await cluster.node("a", definitions=[doubling()])
    result = (await a.start(bulk(), {"count": 0})).result

    assert (result.status, result.outputs["results"]) == (Status.FINISHED, [])


@pytest.mark.parametrize("wait", [True, False])
async def test_a_workflow_that_does_not_exist_faults(cluster: Any, wait: bool) -> None:
    a = await cluster.node("a", definitions=[doubling()], work=True)
    identity = (await a.start(bulk("nowhere", wait=wait), {"count": 3})).result.instance_id

    ended = await a.wait_at_rest(identity)

    assert ended.status is Status.FAULTED
    assert "nowhere" in ended.incidents[0].message


async def test_children_that_cannot_be_started_are_told(cluster: Any) -> None:
    a = await cluster.node("a", definitions=[doubling()], work=True)
    wrong = bulk(items=expr("['x'] * count"))
    identity = (await a.start(wrong, {"count": 3})).result.instance_id

    ended = await a.wait_at_rest(identity)

    assert [item["status"] for item in ended.outputs["results"]] == ["refused"] * 3
    assert "item" in ended.outputs["results"][0]["outputs"]["error"]
    assert sorted(ended.outputs["counts"][1]) == [0, 1, 2]


async def test_without_waiting_a_refused_first_start_is_in_the_results(cluster: Any) -> None:
    a = await cluster.node("a", definitions=[doubling()], work=True)
    wrong = bulk(items=expr("['x'] * count"), wait=False)
    identity = (await a.start(wrong, {"count": 2})).result.instance_id

    ended = await a.wait_at_rest(identity)

    assert ended.status is Status.FINISHED
    assert [item["status"] for item in ended.outputs["results"]] == ["refused", "pending"]


async def test_children_inherit_what_the_parent_has(cluster: Any) -> None:
    a = await cluster.node("a", definitions=[doubling(), waiting()], work=True)
    own = Workflow(
        Sequence(
            BulkDispatchWorkflows("waiting", expr("[1, 2]"), correlation_id=expr("'c' + str(item)"), wait=False),
            DispatchWorkflow("waiting", input=expr("{'item': 3}"), result="child"),
            SetOutput("child", expr("child")),
        ),
        id="own",
        variables={"child": None},
        outputs={"child": dict},
    )
    identity = (await a.start(own, correlation_id="mine", principal="ann", trace="00-1-2-01")).result.instance_id
    ended = await a.wait_at_rest(identity)
    query = InstanceQuery(tenant=cluster.tenant, filter=InstanceFilter(parent_id=identity, statuses=("suspended",)))
    seen = 0
    while len(children := (await a.store.search(query)).items) < 3:
        seen = await a.store.wait_for_change(seen, timedelta(seconds=1))

    assert sorted(str(child.correlation_id) for child in children) == ["c1", "c2", "mine"]
    live = (await a.read(ended.outputs["child"]["instance_id"]))._live
    assert (live.correlation_id, live.principal, live.trace) == ("mine", "ann", "00-1-2-01")


@pytest.mark.parametrize("store_url", ["sqlite"], indirect=True)
async def test_many_children_fold_into_few_commits(cluster: Any) -> None:
    """As 10,000 into 80: so many ends as a batch holds are one commit, and none rewrites what came before."""
    a = await cluster.node("a", definitions=[doubling()], work=True)
    count = 2_000
    identity = (await a.start(bulk(child_completed=None, child_faulted=None), {"count": count})).result.instance_id

    ended = await a.wait_at_rest(identity)

    assert [item["outputs"].get("double") for item in ended.outputs["results"][4:]] == [
        number * 2 + 100 for number in range(4, count)
    ]
    assert ended.commits <= count / 128 * 4


async def test_the_runner_runs_them_inline() -> None:
    from holdfast import Holdfast

    engine = Holdfast(entry_points=False, definitions=[doubling(), waiting()])
    done = await engine.runner.run(bulk(limit=2), {"count": 5})
    assert [item["status"] for item in done.outputs["results"]] == ["finished"] * 3 + ["faulted", "finished"]

    result = await engine.runner.run(bulk("waiting", input=None), {"count": 3})
    assert len(result.bookmarks) == 3
    result = engine.runner.load(result.state, bulk("waiting", input=None))
    while result.bookmarks:
        result = await engine.runner.resume(result, result.bookmarks[0])
    assert result.status is Status.FINISHED
    assert len(result.outputs["results"]) == 3
    engine.close()
