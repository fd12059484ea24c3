"""`/api/tasks`: human tasks of workflows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

from fastapi import Query

from holdfast.errors import TaskNotYours
from holdfast.model.principal import ADMIN, Principal
from holdfast.model.tasks import Task
from holdfast.model.values import shown
from holdfast.server.backend import Backend, Server
from holdfast.server.documented_answers import answers
from holdfast.server.pagination import Cursor, Limit
from holdfast.server.routing import Routes
from holdfast.server.schemas.base import Page
from holdfast.server.schemas.operations import CompleteTaskRequest, TaskItem
from holdfast.server.security import requires

router = Routes("/tasks", tags=["tasks"], responses=answers(404, 409))

Reader = Annotated[Principal, requires("tasks:read")]
Worker = Annotated[Principal, requires("tasks:complete")]
StateName = Literal["open", "claimed", "completed", "canceled"]


@router.get("")
async def list_tasks(
    server: Server,
    who: Reader,
    mine: Annotated[bool, Query(description="Only tasks for me, for my roles, or without an assignee.")] = False,
    state: Annotated[list[StateName], Query()] = [],  # noqa: B006 - FastAPI copies it
    role: str | None = None,
    instance_id: str | None = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Page[TaskItem]:
    """Latest first; without `state` only tasks to be done. Callers who may not read instances see only their own tasks."""
    own = mine or not who.may("instances:read")
    roles = who.roles if role is None else {role} & who.roles if own else {role}
    found = await server.runtime.tasks.list(
        for_user=who.id if own else ("" if role is not None else None),
        roles=roles if own or role is not None else (),
        **({"states": tuple(state)} if state else {}),
        instance_id=instance_id,
        limit=limit,
        after=cursor,
    )
    return Page(items=await _items(server, found.items), total=found.total, next=found.cursor)


@router.get("/{id}")
async def get_task(id: str, server: Server, who: Reader) -> TaskItem:
    """One task. Callers who may not read instances see only their own tasks."""
    task = await server.runtime.tasks.get(id)
    if not (
        who.may("instances:read") or task.is_for(who.id, who.roles) or who.id in (task.claimed_by, task.completed_by)
    ):
        raise TaskNotYours(id, task.meant_for)
    return await _item(server, task)


@router.post("/{id}/claim")
async def claim_task(id: str, server: Server, who: Worker) -> TaskItem:
    """Assign the task to me."""
    return await _item(server, await server.runtime.tasks.claim(id, who.id, roles=_roles(who)))


@router.post("/{id}/release")
async def release_task(id: str, server: Server, who: Worker) -> TaskItem:
    """Give up the claim, so that others can claim the task."""
    return await _item(server, await server.runtime.tasks.release(id, who.id, roles=_roles(who)))


@router.post("/{id}/complete")
async def complete_task(id: str, server: Server, who: Worker, body: CompleteTaskRequest | None = None) -> TaskItem:
    """Complete a task: the answer is validated against the task's form, then the workflow continues."""
    answer = None if body is None else body.answer
    return await _item(server, await server.runtime.tasks.complete(id, who.id, answer, roles=_roles(who)))


def _roles(who: Principal) -> frozenset[str] | None:
    """None for an admin, who may work on every task."""
    return None if ADMIN in who.roles else who.roles


async def _items(server: Backend, tasks: Sequence[Task]) -> list[TaskItem]:
    labels = await server.labels(task.definition_id for task in tasks)
    names = {id: label.name for id, label in labels.items()}
    return [_shown(task, names.get(task.definition_id) or task.definition_id) for task in tasks]


async def _item(server: Backend, task: Task) -> TaskItem:
    (item,) = await _items(server, [task])
    return item


def _shown(task: Task, definition_name: str) -> TaskItem:
    assert task.created is not None
    return TaskItem(
        id=task.id,
        title=task.title,
        description=task.description or None,
        assignee=task.assignee,
        role=task.role,
        state=task.state.value,
        form=task.form,
        about=shown(task.about),
        due=task.due,
        created=task.created,
        instance_id=task.instance_id,
        definition_id=task.definition_id,
        definition_name=definition_name,
        activity_id=task.activity_id,
        claimed_by=task.claimed_by,
        completed_by=task.completed_by,
        answer=shown(task.answer),
    )
