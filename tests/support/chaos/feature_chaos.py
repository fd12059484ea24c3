"""Chaos test of features that few other chaos tests use, while workers are killed.

Instances that were started on a home queue run only on workers of that queue. A limit per value holds over all workers. Large
variables are right with a commit before every activity and with middleware of all kinds. A start in a transaction of the
application exists only if the transaction was committed. A publish with `auto_update_consumers` counts from its answer on.
Kills are paced by the log of the activities, as in `cancel_chaos`.
"""

from __future__ import annotations

import asyncio
import os
from collections import Counter
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

from sqlalchemy.ext.asyncio import create_async_engine

from holdfast.management.runtime import ManagedRuntime
from holdfast.model.instance import Status
from holdfast.model.requests import DispatchDefinition
from holdfast.model.stored import InstanceKey
from holdfast.persistence import store_from_url
from holdfast.runtime import handles
from holdfast.testing.worker_process import WorkerProcess
from tests.support.chaos.cancel_chaos import LogReader, kill_workers
from tests.support.chaos.cancel_workflows import LOG, Line, read
from tests.support.chaos.cluster_driver import all_at_rest, patiently
from tests.support.chaos.feature_workflows import (
    HOME,
    LARGE_RESULT,
    MAIL,
    PRICED,
    ROLE,
    ROWS,
    app,
    at_home,
    large,
    limited,
    ordered,
)
from tests.support.environment import child_environment
from tests.support.worker_group import keep_alive

TENANT = "features"
APP = "tests.support.chaos.feature_workflows:app"
ALIVE = timedelta(seconds=3)
END_SECONDS = 300.0
CUSTOMERS = 3
CALLS = 12
"""Lines of the log for each round that are certain to come."""
DRIVERS = {"sqlite": "aiosqlite", "postgresql": "asyncpg", "mysql": "asyncmy"}
ROLES = {"far": f"default,{MAIL}", "near": f"default,{MAIL},{HOME}"}
"""Queues by the role of a worker."""


async def feature_chaos(url: str, folder: Path, *, rounds: int, kills: int, workers: int = 4) -> dict[str, Any]:
    """One row: figures, `sound` and `broken`."""
    log = folder / "features.log"
    group = [_worker(f"worker-{number}", ("far", "near")[number % 2], url, log) for number in range(workers)]
    store = store_from_url(url)
    await store.open()
    os.environ[LOG] = str(log)
    try:
        async with app.runtime_on(store, tenant=TENANT, node="driver") as runtime:
            runtime.intake.paused = True  # Everything but asking is the workers'.
            for workflow in (at_home, limited, large, ordered):
                await runtime.definitions.deploy(workflow)
            await asyncio.gather(*(worker.start() for worker in group))
            reviving = asyncio.create_task(keep_alive(group))
            driver = Driver(runtime, url, rounds)
            driving = asyncio.create_task(driver.drive())
            killing = asyncio.create_task(kill_workers(group, LogReader(log), kills, CALLS * rounds // (kills + 1)))
            async with asyncio.timeout(END_SECONDS):
                await driving
                await killing
                await all_at_rest(runtime, driver.names)
            reviving.cancel()
            await asyncio.wait([reviving])
            broken = [*await driver.findings(), *log_findings(read(log))]
            return {"instances": len(driver.names), "kills": kills, "sound": not broken, "broken": broken}
    finally:
        del os.environ[LOG]
        for worker in group:
            await worker.close()
        await store.close()


def _worker(name: str, role: str, url: str, log: Path) -> WorkerProcess:
    milliseconds = int(ALIVE / timedelta(milliseconds=1))
    return WorkerProcess(
        name,
        store=url,
        modules=[APP],
        arguments=("--tenants", TENANT, "--queues", ROLES[role]),
        environment=child_environment(
            **{LOG: str(log), ROLE: role},
            HOLDFAST_COMMIT_STRATEGY="activity_executing",
            HOLDFAST_CLUSTER_LIMITS=f"{MAIL}/customer=1",
            HOLDFAST_NODE_ALIVE=f"{milliseconds}ms",
            HOLDFAST_NODE_SWEEP=f"{milliseconds // 4}ms",
        ),
    )


class Driver:
    def __init__(self, runtime: ManagedRuntime, url: str, rounds: int) -> None:
        self._runtime = runtime
        scheme, _, rest = url.partition("://")
        self._database = create_async_engine(f"{scheme}+{DRIVERS[scheme]}://{rest}")
        self._rounds = rounds
        self.names: list[str] = []
        self._rolled_back: list[str] = []
        self._texts: dict[str, str] = {}
        """The text of the part that instances of the consumer must use."""

    async def drive(self) -> None:
        await self._publish(_consumer())
        for number in range(self._rounds):
            await self._dispatch(at_home.definition.id, f"home-{number}", queue=HOME)
            await self._dispatch(
                limited.definition.id, f"limited-{number}", input={"customer": f"c{number % CUSTOMERS}"}
            )
            await self._dispatch(large.definition.id, f"large-{number}", input={"rows": ROWS, "priced": PRICED})
            await self._start_in(f"kept-{number}", number, commits=True)
            await self._start_in(f"undone-{number}", number, commits=False)
            await self._publish(_part(f"text {number}!"))
            await self._dispatch("consumer", f"consumer-{number}")
            self._texts[f"consumer-{number}"] = f"text {number}!"
        await self._database.dispose()

    async def _publish(self, document: dict[str, Any]) -> None:
        if document["id"] == "consumer":
            await self._runtime.definitions.save_and_publish(_part("first"))
        await patiently(lambda: self._runtime.definitions.save_and_publish(document))

    async def _dispatch(self, definition_id: str, name: str, **more: Any) -> None:
        request = DispatchDefinition(definition_id=definition_id, instance_id=name, **more)
        await patiently(lambda: self._runtime.dispatcher.dispatch(request))
        self.names.append(name)

    async def _start_in(self, name: str, number: int, *, commits: bool) -> None:
        async with self._database.connect() as connection:
            target = ordered.options(instance_id=name)
            await handles.start_in(self._runtime, connection, target, (number,), {})
            await (connection.commit() if commits else connection.rollback())
        (self.names if commits else self._rolled_back).append(name)

    async def findings(self) -> list[str]:
        found: list[str] = []
        for name in self.names:
            result = await self._runtime.read(name)
            wanted = self._wanted(name)
            if result.status is not Status.FINISHED or result.incidents:
                found.append(f"{name} is {result.status}: {[item.message for item in result.incidents]}")
            elif wanted is not None and result.outputs.get("result") != wanted:
                found.append(f"{name} returned {result.outputs.get('result')}")
            elif name in self._texts and self._texts[name] not in (used := await self._used_by(name)):
                found.append(f"{name} used {used}")
        keys = [InstanceKey(TENANT, name) for name in self._rolled_back]
        found += [f"{key.id} exists" for key in await self._runtime.store.versions_of(keys)]
        return found

    async def _used_by(self, name: str) -> str:
        """The part that the instance of the consumer pinned."""
        row = await self._runtime.row(name)
        plan = await self._runtime.plans.plan(row.content)
        return " ".join(repr(node.definition) for node in plan.by_key.values())

    @staticmethod
    def _wanted(name: str) -> Any:
        kind, _, number = name.partition("-")
        return {"large": LARGE_RESULT, "kept": int(number) * 3}.get(kind)


def _part(text: str) -> dict[str, Any]:
    options = {"usable_as_activity": True, "auto_update_consumers": True}
    says = {"id": "say", "type": "WriteLine", "inputs": {"text": text}}
    return {"format": "holdfast/definition@1", "id": "part", "name": "Part", "options": options, "root": says}


def _consumer() -> dict[str, Any]:
    root = {"id": "used", "type": "Part"}
    return {"format": "holdfast/definition@1", "id": "consumer", "name": "Consumer", "root": root}


def log_findings(lines: Sequence[Line]) -> list[str]:
    """Broken promises by the log of the activities."""
    found: list[str] = []
    running: dict[str, set[int]] = {}
    attempts, calls = Counter[str](), Counter[str]()
    for line in lines:
        what, _, role = line.what.partition("@")
        if line.mark == "!":
            for pids in running.values():
                pids.discard(line.pid)
        elif line.mark == "~":
            attempts[line.instance_id] += 1
        elif line.mark == "+":
            calls[line.instance_id] += 1
            if line.instance_id.startswith("home-") and role != "near":
                found.append(f"{line.instance_id} ran '{what}' on a worker without its queue")
            if what.startswith("serve-"):
                if running.setdefault(what, set()):
                    found.append(f"two calls of {what} at a time")
                running[what].add(line.pid)
        elif what.startswith("serve-"):
            running.setdefault(what, set()).discard(line.pid)
    return found + [f"{name} ran without middleware" for name, count in calls.items() if attempts[name] < count]
