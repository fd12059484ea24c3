"""Work for people: in somebody's list with the commit that asks, out of it with the commit that goes on."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest

from holdfast import Status, Workflow, ask, expr, workflow
from holdfast.activities import Event, Fork, HumanTask, RunTask, Sequence, SetOutput
from holdfast.errors import AnswerRefused, TaskClosed, TaskNotFound, TaskNotYours, TaskTaken
from holdfast.management.tasks import Tasks
from holdfast.model.instance import JournalEvent
from holdfast.model.tasks import TaskState

FORM = {
    "type": "object",
    "properties": {"approved": {"type": "boolean"}, "amount": {"type": "number", "maximum": 100}},
    "required": ["approved"],
}


@dataclass
class Approval:
    approved: bool
    remark: str = ""


@workflow
async def asking(order: str) -> Any:
    answer = await ask("role:boss", form=Approval, about={"order": order}, title="Approve it")
    return [answer.approved, answer.remark]


def approving(**options: Any) -> Workflow:
    given: dict[str, Any] = {"role": "boss", "form": FORM, "about": expr("{'order': order}"), "due": timedelta(days=2)}
    return Workflow(
        Sequence(
            HumanTask("Approve", **(given | options), result="answer", completed_by="who"),
            SetOutput("answer", expr("answer")),
            SetOutput("who", expr("who")),
        ),
        id="approving",
        inputs={"order": str},
        variables={"answer": None, "who": None},
        outputs={"answer": dict, "who": str},
    )


async def started(runtime: Any, wanted: Any, **inputs: Any) -> tuple[str, Tasks, str]:
    identity = (await runtime.start(wanted, inputs)).result.instance_id
    tasks = Tasks(runtime)
    (task,) = (await tasks.list(instance_id=identity)).items
    return identity, tasks, task.id


async def test_a_task_is_listed_claimed_and_completed(cluster: Any) -> None:
    a, b = await cluster.node("a"), await cluster.node("b")
    identity, tasks, task_id = await started(a, approving(), order="7")
    task = await tasks.get(task_id)
    assert (task.title, task.role, task.about, task.form) == ("Approve", "boss", {"order": "7"}, FORM)
    assert (task.instance_id, task.definition_id, task.state) == (identity, "approving", TaskState.OPEN)
    assert task.due is not None
    assert task.created is not None
    assert task.due - task.created >= timedelta(days=2) - timedelta(minutes=1)
    others = Tasks(b)

    claimed = await others.claim(task_id, "ann", roles=["boss"])
    assert (claimed.state, claimed.claimed_by) == (TaskState.CLAIMED, "ann")
    with pytest.raises(TaskTaken, match="ann"):
        await tasks.complete(task_id, "bob", {"approved": True}, roles=["boss"])
    assert (await others.release(task_id, "ann")).state is TaskState.OPEN

    done = await tasks.complete(task_id, "bob", {"approved": True}, roles=["boss"])

    assert (done.state, done.completed_by, done.answer) == (TaskState.COMPLETED, "bob", {"approved": True})
    ended = await b.wait_at_rest(identity)
    assert ended.outputs == {"answer": {"approved": True}, "who": "bob"}
    acts = [entry.data for entry in await b.journal(identity) if entry.event is JournalEvent.OPERATED]
    assert [(act["verb"], act["who"]) for act in acts] == [
        ("claim task", "ann"),
        ("release task", "ann"),
        ("complete task", "bob"),
    ]
    await cluster.check(b, identity)


async def test_an_answer_that_does_not_fit_is_refused_with_paths(cluster: Any) -> None:
    a = await cluster.node("a")
    identity, tasks, task_id = await started(a, approving(), order="7")
    version = (await a.row(identity)).version

    with pytest.raises(AnswerRefused) as refused:
        await tasks.complete(task_id, "ann", {"amount": 101})

    assert [(item.path, item.code) for item in refused.value.problems] == [
        ("/approved", "missing"),
        ("/amount", "too-large"),
    ]
    assert (await a.row(identity)).version == version
    assert (await tasks.get(task_id)).state is TaskState.OPEN


async def test_of_many_who_complete_it_one_does(cluster: Any) -> None:
    a, b = await cluster.node("a"), await cluster.node("b")
    identity, tasks, task_id = await started(a, approving(), order="7")
    others = Tasks(b)

    answers = await asyncio.gather(
        *((tasks, others)[number % 2].complete(task_id, f"p{number}", {"approved": True}) for number in range(20)),
        return_exceptions=True,
    )

    won = [number for number, answer in enumerate(answers) if not isinstance(answer, BaseException)]
    assert len(won) == 1
    assert all(isinstance(answer, TaskClosed) for number, answer in enumerate(answers) if number not in won)
    assert (await a.wait_at_rest(identity)).outputs["who"] == f"p{won[0]}"
    again = await tasks.complete(task_id, f"p{won[0]}", {"approved": True})
    assert again.completed_by == f"p{won[0]}"


async def test_who_may_answer(cluster: Any) -> None:
    a = await cluster.node("a")
    identity, tasks, task_id = await started(a, approving(role=None, assignee="ann"), order="7")
    with pytest.raises(TaskNotYours, match="ann"):
        await tasks.claim(task_id, "bob", roles=["boss"])

    assert [task.id for task in (await tasks.list(for_user="ann")).items] == [task_id]
    assert (await tasks.list(for_user="bob", roles=["boss"])).items == ()
    await tasks.complete(task_id, "ann", {"approved": False}, roles=[])
    assert (await tasks.list(for_user="ann")).items == ()
    assert (await tasks.list(for_user="ann", states=["completed"])).total == 1
    assert (await a.read(identity)).status is Status.FINISHED
    with pytest.raises(TaskNotFound):
        await tasks.get("nothing")


async def test_canceling_the_instance_closes_its_task(cluster: Any) -> None:
    a = await cluster.node("a")
    identity, tasks, task_id = await started(a, approving(), order="7")

    await a.cancel(identity)

    assert (await tasks.get(task_id)).state is TaskState.CANCELED
    with pytest.raises(TaskClosed, match="canceled"):
        await tasks.complete(task_id, "ann", {"approved": True})


async def test_a_task_that_its_workflow_passes_by_is_closed(cluster: Any) -> None:
    a = await cluster.node("a")
    root = Fork(HumanTask("Look", assignee="ann"), Event("enough"), join="wait_any")
    identity, tasks, task_id = await started(a, Workflow(root, id="first"))
    mark = next(item for item in (await a.read(identity)).bookmarks if item.name == "Event")

    await a.resume(identity, mark.id)

    assert (await tasks.get(task_id)).state is TaskState.CANCELED


async def test_plain_python_asks_the_same_way(cluster: Any) -> None:
    a = await cluster.node("a", types=[Approval])
    identity, tasks, task_id = await started(a, asking, order="9")
    task = await tasks.get(task_id)
    assert (task.title, task.role, task.about) == ("Approve it", "boss", {"order": "9"})

    with pytest.raises(AnswerRefused) as refused:
        await tasks.complete(task_id, "ann", {"approved": "perhaps"})
    await tasks.complete(task_id, "ann", {"approved": True, "remark": "fine"})

    assert [item.path for item in refused.value.problems] == ["/approved"]
    assert (await a.wait_at_rest(identity)).outputs == {"result": [True, "fine"]}


async def test_a_task_for_a_program_is_completed_by_its_id(cluster: Any) -> None:
    a = await cluster.node("a")
    root = Sequence(RunTask("resize", payload={"file": "x.png"}, result="answer"), SetOutput("out", expr("answer")))
    identity, tasks, task_id = await started(
        a, Workflow(root, id="resizing", variables={"answer": None}, outputs={"out": dict})
    )
    task = await tasks.get(task_id)
    assert (task.name, task.about) == ("resize", {"file": "x.png"})

    await tasks.complete(task_id, "resizer", {"width": 100})

    assert (await a.wait_at_rest(identity)).outputs == {"out": {"width": 100}}


async def test_a_task_goes_with_its_instance(cluster: Any) -> None:
    a = await cluster.node("a")
    identity, tasks, task_id = await started(a, approving(), order="7")
    await a.cancel(identity)

    await a.store.delete_instances(cluster.tenant, [identity])

    with pytest.raises(TaskNotFound):
        await tasks.get(task_id)


@dataclass
class Line:
    article: str
    pieces: int = 1


@dataclass
class Order:
    lines: list[Line]


@workflow
async def ordering() -> Any:
    order = await ask("ann", form=Order)
    return [line.pieces for line in order.lines]


@pytest.mark.parametrize(
    "make", [lambda: ordering, lambda: Workflow(HumanTask(assignee="ann", form=Order), id="order")]
)
async def test_forms_within_forms_survive_the_store(cluster: Any, make: Any) -> None:
    a, b = await cluster.node("a", types=[Order]), await cluster.node("b", types=[Order])
    identity, _, task_id = await started(a, make())
    others = Tasks(b)

    with pytest.raises(AnswerRefused) as refused:
        await others.complete(task_id, "ann", {"lines": [{"article": "x"}, {"pieces": "two"}]})
    done = await others.complete(task_id, "ann", {"lines": [{"article": "x", "pieces": 2}]})

    assert [item.path for item in refused.value.problems] == ["/lines/1/article", "/lines/1/pieces"]
    assert done.answer == {"lines": [{"article": "x", "pieces": 2}]}
    assert (await b.wait_at_rest(identity)).status is Status.FINISHED
