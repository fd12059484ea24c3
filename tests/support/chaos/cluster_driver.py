"""Driver of the cluster test: starts and pays orders, alters a variable of each case and completes its task.

The driver uses a node that takes no work; the workers that run the work are killed meanwhile.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from holdfast.authoring.workflow import Workflow
from holdfast.errors import HoldfastError
from holdfast.management.instances.alterations import Alterations
from holdfast.management.runtime import ManagedRuntime
from holdfast.management.tasks import Tasks
from holdfast.model.alterations import ModifyVariable, PlanState
from holdfast.model.listing import InstanceFilter
from holdfast.model.requests import DispatchDefinition
from holdfast.model.stored import InstanceKey
from tests.support.chaos.cluster_workflows import case, order

T = TypeVar("T")
AT_ONCE = 20
LOOK = 0.2
"""Seconds between two looks."""


async def drive_orders(runtime: ManagedRuntime, names: Sequence[str]) -> None:
    """Start each, and pay it: some before it waits for that."""

    async def one(name: str) -> None:
        await start(runtime, order, name)
        await patiently(lambda: runtime.stimuli.event("paid", {}, instance_id=name, idempotency_key=f"paid-{name}"))

    for first in range(0, len(names), AT_ONCE):
        await asyncio.gather(*map(one, names[first : first + AT_ONCE]))


async def drive_cases(runtime: ManagedRuntime, names: Sequence[str]) -> None:
    """Start them; once all wait for somebody, alter all of them by a plan that the workers work off; then do their tasks."""
    if not names:
        return
    tasks, alterations = Tasks(runtime), Alterations(runtime)
    for name in names:
        await start(runtime, case, name)
    waiting = [await _until(lambda name=name: _task_of(tasks, name)) for name in names]  # type: ignore[misc]  # a default binds the name
    asked = InstanceFilter(definition_ids=(case.definition.id,))
    paid = ModifyVariable(variable="fee", value="paid")
    plan = await patiently(lambda: alterations.plan(asked, [paid], who="the test"))
    await patiently(lambda: alterations.run(plan.id))

    async def altered() -> bool:
        return (await alterations.get(plan.id)).state is PlanState.COMPLETED

    await _until(altered)
    for task_id in waiting:
        await patiently(lambda task_id=task_id: tasks.complete(task_id, "ann", "seen"))  # type: ignore[misc]  # the same


async def start(runtime: ManagedRuntime, workflow: Workflow, name: str) -> None:
    request = DispatchDefinition(definition_id=workflow.definition.id, instance_id=name)
    await patiently(lambda: runtime.dispatcher.dispatch(request))


async def _task_of(tasks: Tasks, name: str) -> str | None:
    found = (await tasks.list(instance_id=name)).items
    return found[0].id if found else None


async def all_at_rest(runtime: ManagedRuntime, names: Sequence[str]) -> None:
    left = set(names)
    while left:
        keys = [InstanceKey(runtime.tenant, name) for name in sorted(left)[:500]]
        rows = (await patiently(lambda: runtime.store.load(keys))).instances  # noqa: B023 - asked at once
        ended = {key.id for key, row in rows.items() if row.finished is not None}
        left -= ended
        if not ended:
            await asyncio.sleep(LOOK)


async def patiently(ask: Callable[[], Awaitable[T]]) -> T:
    """Until it is accepted: asking twice is safe, each has an identity."""
    while True:
        try:
            return await ask()
        except HoldfastError:
            await asyncio.sleep(0.05)


async def _until(look: Callable[[], Awaitable[T]]) -> T:
    """The first answer that is one."""
    while True:
        if found := await patiently(look):
            return found
        await asyncio.sleep(LOOK)
