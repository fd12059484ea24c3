"""Human tasks: for whom they are, and as records."""

from __future__ import annotations

import pytest

from holdfast.model.tasks import Task, TaskState, addressee, record_of, task_of
from holdfast.testing.store_rows import AT, later


@pytest.mark.parametrize(
    ("task", "owner", "meant_for", "is_ann", "is_boss"),
    [
        (Task(id="t", title="T", assignee="ann"), "user:ann", "'ann'", True, False),
        (Task(id="t", title="T", role="bosses"), "role:bosses", "the role 'bosses'", False, True),
        (Task(id="t", title="T", assignee="ann", role="bosses"), "user:ann", "'ann'", True, False),
        (Task(id="t", title="T"), "", "everyone", True, True),
    ],
)
def test_a_task_is_for_a_user_a_role_or_everyone(
    task: Task, owner: str, meant_for: str, is_ann: bool, is_boss: bool
) -> None:
    assert (task.owner, task.meant_for) == (owner, meant_for)
    assert (task.is_for("ann", []), task.is_for("bob", ["bosses"])) == (is_ann, is_boss)


@pytest.mark.parametrize(
    ("who", "expected"), [("ann", ("ann", None)), ("user:ann", ("ann", None)), ("role:bosses", (None, "bosses"))]
)
def test_an_addressee_is_a_user_unless_it_names_a_role(who: str, expected: tuple[str | None, str | None]) -> None:
    assert addressee(who) == expected


def test_a_task_survives_its_record() -> None:
    task = Task(id="t", title="Pack it", assignee="ann", instance_id="i", about={"sum": 5}, due=later(60), created=AT)
    row = record_of(task, "acme", later(5))
    found = task_of(row)

    assert (row.owner, row.state, row.due, row.instance_id) == ("user:ann", "open", later(60), "i")
    assert (found.title, found.about, found.created, found.updated) == ("Pack it", {"sum": 5}, AT, later(5))


def test_only_open_and_claimed_tasks_are_live() -> None:
    live = {state for state in TaskState if Task(id="t", title="T", state=state).is_live}

    assert {TaskState.COMPLETED, TaskState.CANCELED}.isdisjoint(live)
    assert TaskState.OPEN in live
