"""One worker of the chaos test of the runtime: resumes instances that other workers resume too, until it is killed.

Each instance loops: wait for an event, run an effect or a short timer, store the token of the event. Every acknowledged token
and every attempt of the effect is appended to a file, unbuffered. States, journals and files must agree afterwards.
"""

from __future__ import annotations

import asyncio
import os
import random
from datetime import timedelta
from pathlib import Path
from typing import Any

from holdfast.activities.control.branch import If
from holdfast.activities.control.loops import While
from holdfast.activities.control.sequence import Sequence
from holdfast.activities.data import SetVariable
from holdfast.activities.events import Event
from holdfast.activities.scheduling import Delay
from holdfast.authoring.fields import expr
from holdfast.authoring.function import activity
from holdfast.authoring.workflow import Workflow
from holdfast.engine import Holdfast
from holdfast.errors import ExecutionError, StoreError
from holdfast.management.runtime import ManagedRuntime
from holdfast.ports import Context, Store
from tests.support.node import node_of

TENANT = "fight"
AT_ONCE = 16
"""Resumes under way per worker: enough that commits are grouped."""
TIME_TO_LIVE = timedelta(milliseconds=1500)
CHARGES = "HOLDFAST_TEST_CHARGES"
"""The file that attempts of the effect are written to."""
STRATEGY = "HOLDFAST_TEST_COMMIT_STRATEGY"
"""The commit strategy of all workers; none if it is empty."""
_NAP = timedelta(milliseconds=1)


@activity(name="ChaosCharge")
async def charge(context: Context, token: str) -> str:
    _append(os.environ[CHARGES], f"{context.instance_id} {context.execution_id} {context.attempt}")
    await asyncio.sleep(0)
    return token


def workflow() -> Workflow:
    remember = Sequence(SetVariable("tokens", expr("tokens + [token]")), SetVariable("count", expr("count + 1")))
    return Workflow(
        While(
            True,
            Sequence(
                Event("go", result="token"),
                If(expr("naps"), Delay(_NAP), charge.bind(token=expr("token"), result="token")),
                remember,
            ),
        ),
        inputs={"naps": bool},
        variables={"tokens": [], "token": "", "count": 0},
        id="chaos",
    )


def engine() -> Holdfast:
    return Holdfast(entry_points=False, activities=[charge], commit_strategy=os.environ.get(STRATEGY, ""))


def node_on(store: Store, name: str) -> ManagedRuntime:
    runtime = engine().runtime_on(store, tenant=TENANT, node=name)
    runtime.liveness.time_to_live = TIME_TO_LIVE
    return runtime


async def contend(store: Store, worker: str, instances: int, keys: int, acknowledged: str) -> dict[str, Any]:
    """Never returns: the test kills it."""
    async with node_on(store, worker) as runtime:
        node_of(runtime).take_work()
        await asyncio.gather(
            *(_resume(runtime, f"{worker}-{number}", instances, acknowledged) for number in range(AT_ONCE)),
            _start(runtime, keys, acknowledged),
        )
    raise AssertionError("a fighter ended")


async def _resume(runtime: ManagedRuntime, name: str, instances: int, acknowledged: str) -> None:
    number = 0
    while True:
        number += 1
        identity, token = f"i{random.randrange(instances)}", f"{name}-{number}"
        try:
            waiting = [mark.id for mark in (await runtime.read(identity)).bookmarks if mark.name == "Event"]
            if not waiting:
                await asyncio.sleep(0)
                continue
            await runtime.resume(identity, waiting[0], token)
        except ExecutionError:
            await asyncio.sleep(0)  # Another worker has resumed it.
        except StoreError:
            await asyncio.sleep(0.05)  # The database is being restarted; whether it was done is not known.
        else:
            _append(acknowledged, f"{identity} {token}")


async def _start(runtime: ManagedRuntime, keys: int, acknowledged: str) -> None:
    """Starts under keys that others use too."""
    flow = workflow()
    while True:
        key = str(random.randrange(keys))
        try:
            answer = await runtime.start(flow, {"naps": False}, idempotency=key)
        except StoreError:
            await asyncio.sleep(0.05)
            continue
        if answer.result is not None:
            _append(acknowledged, f"key:{key} {answer.result.instance_id}")
        await asyncio.sleep(0.02)


def _append(path: str, line: str) -> None:
    """One write in append mode: it is atomic, even with concurrent writers and when this process dies."""
    with Path(path).open("ab", buffering=0) as file:
        file.write(line.encode() + b"\n")
