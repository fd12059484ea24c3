"""Deployments of a shop by real workers: good code, bad code under the same node name, good code again.

`Deployment` starts an instance at each kind of wait with the good code, lets a bad deployment meet everything that happens to
them, and expects that the good code finishes all of it, once.
"""

from __future__ import annotations

import asyncio
import importlib.util
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

from holdfast import Holdfast, Status
from holdfast.api import DispatchDefinition
from holdfast.management.doctor import check_store
from holdfast.model.listing import InstanceFilter, InstanceQuery
from holdfast.model.stored import InstanceKey
from holdfast.model.work import WorkRow
from holdfast.persistence import store_from_url
from holdfast.ports import Store
from holdfast.runtime.plans.missing_code import Lacking, lacking_code
from holdfast.testing.worker_process import WorkerProcess

MODULE = "shop"
GOOD = Path(__file__).with_name("shop_v1.py").read_text(encoding="utf-8")
LOOK_SECONDS = 0.05
PATIENCE_SECONDS = 90.0
KINDS = ("event", "timer", "effect", "step", "child", "letter", "keyed_letter")
LETTERS_PARKED, LETTERS = 6, 8
"""Events that the bad deployment meets, and all events, of each instance that reads several."""


OTHER = """from holdfast import activity


@activity
async def unrelated() -> None: ...
"""


def _without(text: str, *changes: tuple[str, str]) -> str:
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    return text


BAD: Mapping[str, tuple[str, str]] = {
    "activity renamed": (
        _without(GOOD, ("async def pack(", "async def wrap("), ("await pack(", "await wrap(")),
        "pack",
    ),
    "function gone": (_without(GOOD, ("def label(", "def title("), ("label(item)", "title(item)")), "label"),
    "module gone": (OTHER, "pack"),
    "field required": (
        _without(
            GOOD,
            ("    name: str\n    colour", "    name: str\n    weight: int\n    colour"),
            ("Item(name)", "Item(name, 1)"),
        ),
        "weight",
    ),
    "class renamed": (_without(GOOD, ("Item", "Article")), "shop:Item"),
    "member gone": (_without(GOOD, ('    RED = "red"\n', ""), ("Colour.RED", "Colour.BLUE")), "RED"),
}
"""Bad deployments: the text of the module, and the name that the reason must contain."""
UNREADABLE = frozenset({"field required", "class renamed", "member gone"})
"""Deployments whose code is complete, but cannot read the state of instances."""


async def until(condition: Callable[[], Awaitable[Any]], what: str, said: Callable[[], str] = str) -> Any:
    """The first true value of the condition."""
    try:
        async with asyncio.timeout(PATIENCE_SECONDS):
            while True:
                if found := await condition():
                    return found
                await asyncio.sleep(LOOK_SECONDS)
    except TimeoutError:
        raise AssertionError(f"{what} did not happen\n{said()}") from None


class Deployment:
    def __init__(self, url: str, folder: Path) -> None:
        self.url = url
        self.folder = folder
        self.environment = {
            "DEPLOY_LEDGER": str(folder / "ledger"),
            "DEPLOY_GATE": str(folder / "gate"),
            "DEPLOY_DELAY": "2",
            "DEPLOY_EVERY": "2",
            "HOLDFAST_NODE_SWEEP": "1s",
            "HOLDFAST_DRAIN_LIMIT": "1s",
        }
        (folder / "ledger").touch()
        self.workers: list[WorkerProcess] = []
        self.kinds: tuple[str, ...] = KINDS
        self.app: Holdfast
        self.store: Store

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[Deployment]:
        """With a process beside the workers that has the good code and takes no work: it sends and starts."""
        os.environ.update(self.environment)
        module = self._import_good()
        self.store = store_from_url(self.url)
        await self.store.open()
        try:
            activities = [module.pick, module.pack, module.ship, module.carry, module.count_stock]
            async with Holdfast(store=self.url, worker=False, activities=activities, entry_points=False) as self.app:
                yield self
        finally:
            for worker in self.workers:
                await worker.close()
            await self.store.close()
            sys.modules.pop(MODULE, None)

    def _import_good(self) -> ModuleType:
        path = self.folder / f"{MODULE}.py"
        path.write_text(GOOD, encoding="utf-8")
        spec = importlib.util.spec_from_file_location(MODULE, path)
        assert spec is not None
        assert spec.loader is not None
        module = sys.modules[MODULE] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    async def deploy(self, text: str) -> WorkerProcess:
        folder = self.folder / f"v{len(self.workers)}"
        folder.mkdir()
        (folder / f"{MODULE}.py").write_text(text, encoding="utf-8")
        worker = WorkerProcess(
            "one",
            store=self.url,
            modules=[MODULE],
            folder=folder,
            environment={**self.environment, "PYTHONPATH": str(folder)},
        )
        self.workers.append(worker)
        await worker.start()
        return worker

    @property
    def said(self) -> str:
        return "\n".join(line for worker in self.workers for line in worker.said[-30:])

    @property
    def ledger(self) -> list[str]:
        return sorted(
            line for line in (self.folder / "ledger").read_text(encoding="utf-8").splitlines() if "stock" not in line
        )

    def letters_of(self, kind: str) -> list[str]:
        """The events that an instance has read, in order."""
        lines = (self.folder / "ledger").read_text(encoding="utf-8").splitlines()
        return [line for line in lines if line.startswith("letter ") and f" {kind} (" in line]

    @property
    def stock_counts(self) -> int:
        return (self.folder / "ledger").read_text(encoding="utf-8").count("stock counted")

    def open_gate(self) -> None:
        (self.folder / "gate").touch()

    async def start(self, kind: str) -> None:
        await self.app.runtime.dispatcher.dispatch(
            DispatchDefinition(definition_id=f"by_{kind}", version=1, input={"name": kind}, instance_id=kind)
        )

    async def park_all(self) -> None:
        """An instance at each kind of wait, run by the worker of the good code."""
        for kind in KINDS:
            await self.start(kind)
        for kind in KINDS:
            await until(partial(self._waits, kind), f"the wait of '{kind}'", lambda: self.said)

    async def _waits(self, kind: str) -> bool:
        status = await self.status(kind)
        if kind in ("effect", "step"):
            effects = await self.store.effects_of("", kind)
            return any(item.owner.node and item.activity_id.endswith(("ship", "carry")) for item in effects)
        if kind == "child":
            query = InstanceQuery(filter=InstanceFilter(definition_ids=("helper",)))
            return any(item.status == Status.SUSPENDED for item in (await self.store.search(query)).items)
        return status == Status.SUSPENDED

    async def status(self, kind: str) -> str | None:
        key = InstanceKey("", kind)
        row = (await self.store.load([key])).instances.get(key)
        return None if row is None else row.status

    # -- the bad deployment --------------------------------------------------------------------------------------------

    async def send_all(self, bad: str) -> None:
        await self.app.send("go", key="event")
        await self.app.send("go", key="child-child")
        await self.send_letters(range(LETTERS_PARKED))
        if bad not in UNREADABLE:  # Otherwise a new instance runs with the new classes.
            await self.start("start")
            self.kinds = (*KINDS, "start")

    async def send_letters(self, numbers: range) -> None:
        """One by one: to an instance, and under two names to a key."""
        for number in numbers:
            await self.app.runtime.stimuli.event("letter", f"letter {number}", instance_id="letter")
            await self.app.send("card" if number % 2 else "letter", f"letter {number}", key="keyed_letter")

    async def all_parked(self) -> dict[str, Lacking]:
        """What nobody can run, as soon as all due work is parked."""

        async def parked() -> dict[str, Lacking] | None:
            found = await lacking_code(self.store, "")
            left = await self.store.until_due(["default"], lacking=tuple(found))
            return found if found and (left is None or left.total_seconds() > 0) else None

        found: dict[str, Lacking] = await until(parked, "parking", lambda: self.said)
        return found

    async def rows(self) -> list[WorkRow]:
        async with self.store.claim(["default", "step:default"], 100) as claim:
            return list(claim.rows)

    async def problems(self) -> list[str]:
        """Anything that a bad deployment must not do."""
        found = [f"dead letter {item.reason} {item.work.id}" for item in await self.store.list_dead_letters("")]
        found += [f"{row.attempts} attempts of {row.kind} {row.id}" for row in await self.rows() if row.attempts]
        for kind in self.kinds:
            if (status := await self.status(kind)) in (Status.FAULTED, Status.CANCELED):
                found.append(f"{kind} is {status}")
        return found

    async def findings(self) -> list[str]:
        found = await check_store(store_from_url(self.url), self.app.clock)
        return [f"{item.message} {item.remedy}" for item in found if item.subject == "code"]

    # -- the end -------------------------------------------------------------------------------------------------------

    async def finish_all(self) -> None:
        for kind in self.kinds:
            await until(partial(self._ended, kind), f"the end of '{kind}'", lambda: self.said)

    async def _ended(self, kind: str) -> bool:
        status = await self.status(kind)
        assert status not in (Status.FAULTED, Status.CANCELED), f"{kind} is {status}"
        return status == Status.FINISHED


def letters(kind: str) -> list[str]:
    return [f"letter {number} {kind} (red)" for number in range(LETTERS)]


EXPECTED = sorted(
    [
        *letters("letter"),
        *letters("keyed_letter"),
        "child child (red)",
        "effect effect (red)",
        "event event (red)",
        "parent child (red)",
        "start start (red)",
        "step step (red)",
        "timer timer (red)",
    ]
)


async def deploy_and_roll_back(url: str, folder: Path, bad: str, *, kill: bool) -> list[str]:
    """Everything that is wrong after good code, bad code and good code again."""
    text, missing = BAD[bad]
    async with Deployment(url, folder).opened() as deployment:
        good = await deployment.deploy(GOOD)
        await deployment.park_all()
        await _end(good, kill=kill)
        worse = await deployment.deploy(text)
        await deployment.send_all(bad)
        lacking = await deployment.all_parked()
        wrong = await deployment.problems()
        wrong += [f"no reason names {missing}: {lacking}"] * (
            not any(missing in item.reason for item in lacking.values())
        )
        wrong += [f"nothing says that instances wait: {lacking}"] * (
            not any(item.instances for item in lacking.values())
        )
        wrong += [f"doctor does not name {missing}"] * (
            not any(missing in line for line in await deployment.findings())
        )
        wrong += [f"went on with bad code: {line}" for line in deployment.ledger]
        counted = deployment.stock_counts
        await _end(worse, kill=kill)
        deployment.open_gate()
        await deployment.deploy(GOOD)
        await deployment.send_letters(range(LETTERS_PARKED, LETTERS))
        await deployment.finish_all()
        wrong += await deployment.problems()
        if deployment.ledger != [line for line in EXPECTED if bad not in UNREADABLE or not line.startswith("start")]:
            wrong.append(f"the ledger is {deployment.ledger}")
        for kind in ("letter", "keyed_letter"):
            if (read := deployment.letters_of(kind)) != letters(kind):
                wrong.append(f"the order is {read}")

        async def fired() -> bool:
            return deployment.stock_counts > counted

        await until(fired, "a firing of the schedule", lambda: deployment.said)
        return wrong


async def _end(worker: WorkerProcess, *, kill: bool) -> None:
    if kill:
        worker.kill()
    else:
        worker.terminate()
    await worker.ended()
