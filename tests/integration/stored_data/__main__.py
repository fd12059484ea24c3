"""Generator of the stored data: fills one database per kind of store and dumps it. See README.md."""

from __future__ import annotations

import asyncio
import gzip
import json
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from holdfast import Holdfast
from holdfast.model.requests import DispatchDefinition
from tests.integration.stored_data import documents, workflows
from tests.integration.stored_data.workflows import BASKET, FUNCTIONS, Basket, Colour, holding, knocking, world
from tests.support.services.mysql import mysql_database
from tests.support.services.postgresql import postgres_database

FOLDER = Path(__file__).parent
SOON = timedelta(seconds=30)


class Bus:
    """An outlet without a listener: its events stay in the outbox."""

    name = "bus"
    events = ("instance.started",)

    async def deliver(self, event: Any) -> None:
        raise ConnectionError(f"no listener for {event.id}")


def application(url: str, node: str, *, door: str = "front", **options: Any) -> Holdfast:
    return Holdfast(
        store=url,
        workflows=[*FUNCTIONS, knocking(door), holding()],
        types=[Basket, Colour],
        node=node,
        entry_points=False,
        node_alive=timedelta(seconds=2),
        node_beat=timedelta(milliseconds=500),
        node_sweep=timedelta(milliseconds=200),
        **options,
    )


async def fill(url: str) -> None:
    async with application(url, "first", door="back") as app:
        await publish(app)
        await with_worker(app)
    await lose(url, "capturing", "lost-1")
    async with application(url, "second") as app:
        await until_held(app)
    await lose(url, "charging", "lost-2")
    async with application(url, "third", worker=False, outlets=[Bus()], history="snapshots") as app:
        await without_worker(app)


async def publish(app: Holdfast) -> None:
    """Definitions in JSON: `waiting` has two published versions and a draft."""
    publish = app.runtime.definitions.save_and_publish
    await publish(documents.waiting("one"))
    await app.runtime.client("waiting-1").create_and_run("waiting")
    await publish(documents.waiting("two"))
    await app.runtime.client("waiting-2").create_and_run("waiting")
    await app.runtime.definitions.save_draft(documents.waiting("three"))
    for document in (documents.SINGLE, documents.CALLING, documents.TASK, documents.HTTP, documents.NIGHTLY):
        await publish(document)
    (night,) = await app.runtime.schedules.list("nightly")
    await app.runtime.schedules.pause(night.id)


async def with_worker(app: Holdfast) -> None:
    """Instances that need a worker to get where they are."""
    runtime = app.runtime
    parent = await app.start(workflows.whole.options(instance_id="whole"), ["left", "right"])
    await runtime.wait_burst(parent.id, SOON)
    await app.send("part", "done", key="left")
    await runtime.client("calling").create_and_run("calling")
    await parents_wait(app)
    finished = await app.start(
        workflows.charging.options(instance_id="charged", correlation_id="c-1", name="Paid"), "A"
    )
    await finished.result(timeout=SOON)
    await app.start(workflows.reserving.options(instance_id="faulted"), "B")
    await runtime.wait_at_rest("faulted")
    await app.start(workflows.announced.options(instance_id="announced"))
    await runtime.stimuli.event("Strict", {"amount": -1}, broadcast=True, wait=SOON)
    while not await runtime.operators.dead_letters():  # noqa: ASYNC110
        await asyncio.sleep(0.05)
    await app.start(workflows.in_order.options(instance_id="kept"))
    await runtime.stimuli.event("two", 2, instance_id="kept", wait=SOON)
    await app.start(workflows.touring.options(instance_id="touring"), ["Rome", "Oslo", "Bern"])
    await app.start(workflows.branching.options(instance_id="branching"), ["Rome", "Oslo"])
    for name in ("touring", "branching"):
        await runtime.wait_burst(name, SOON)


async def parents_wait(app: Holdfast) -> None:
    """Wait until both parents wait for one child each."""
    # A worker sets no event of this process: the generator polls.
    while [row.status for row in await children(app)].count("suspended") != 2:  # noqa: ASYNC110
        await asyncio.sleep(0.05)


async def children(app: Holdfast) -> list[Any]:
    from holdfast.model.listing import InstanceFilter, InstanceQuery

    query = InstanceQuery(tenant="", filter=InstanceFilter(definition_ids=("part", "waiting")), limit=100)
    found = (await app.runtime.store.search(query)).items
    return [item for item in found if not item.id.startswith("waiting-")]


async def lose(url: str, name: str, node: str) -> None:
    """Start a workflow in a process of its own and kill the process in the middle of the effect."""
    dying = subprocess.Popen(  # noqa: ASYNC220 - the generator does nothing else meanwhile
        [sys.executable, "-m", "tests.integration.stored_data", url, name, node], stdout=subprocess.PIPE
    )
    assert dying.stdout is not None
    assert await asyncio.to_thread(dying.stdout.readline) == b"begun\n"
    os.kill(dying.pid, signal.SIGKILL)
    dying.wait()


async def die(url: str, name: str, node: str) -> None:
    """The life of that process."""
    begun = asyncio.Event()
    world.stuck, world.begun = True, begun.set
    wanted = next(item for item in FUNCTIONS if item.id == name)
    async with application(url, node) as app:
        await app.runtime.start(wanted, {"order": "C"}, instance_id=name)
        await begun.wait()
        print("begun", flush=True)  # noqa: T201 - for the generator
        await asyncio.Event().wait()


async def until_held(app: Holdfast) -> None:
    """Wait until the death of the first node is noticed."""
    while not (await app.runtime.read("capturing")).incidents:  # noqa: ASYNC110
        await asyncio.sleep(0.05)


async def without_worker(app: Holdfast) -> None:
    """Instances and rows that a worker would take up at once."""
    runtime = app.runtime
    key = workflows.approving.options(instance_id="approving", idempotency_key="web-17")
    await app.start(key, BASKET, "a note")
    await app.start(workflows.reminding.options(instance_id="far"), workflows.FAR)
    await app.start(workflows.reminding.options(instance_id="due"), datetime.now(UTC) + timedelta(seconds=2))
    await app.start(workflows.asking.options(instance_id="asking"), "D")
    await app.start(workflows.packing.options(instance_id="packing"), "E")
    await app.start(workflows.in_order.options(instance_id="not-matched"))
    await app.send("two", 2, instance_id="not-matched")
    for name in ("task", "single", "shop"):
        await runtime.client(name).create_and_run(name)
    for name in ("knocking", "holding"):
        await runtime.client(name).create_and_run(name)
    (task,) = (await runtime.tasks.list(instance_id="task")).items
    await runtime.tasks.claim(task.id, "kim")
    await runtime.dispatcher.dispatch(
        DispatchDefinition(definition_id="charging", input={"order": "F"}, instance_id="queued")
    )
    await runtime.stimuli.send("Knock", {"door": "front"}, input="who is there", idempotency_key="knock-1")
    await runtime.definitions.save_and_publish(documents.EACH_MINUTE)


# -- dumps -------------------------------------------------------------------------------------------------------------


def accounts(url: str) -> str:
    """A user and an API key, by the command line; the key."""
    program = [sys.executable, "-m", "holdfast.cli"]
    add = [*program, "users", "add", "kim", "--password", documents.PASSWORD, "--role", "admin", "--store", url]
    subprocess.run(add, check=True)
    made = [*program, "keys", "add", "import", "--role", "viewer", "--json", "--store", url]
    return str(json.loads(subprocess.run(made, check=True, capture_output=True, text=True).stdout)["key"])


def made(url: str) -> str:
    asyncio.run(fill(url))
    return accounts(url)


def keep(name: str, content: bytes) -> None:
    (FOLDER / name).write_bytes(gzip.compress(content, 9, mtime=0))


def sqlite(folder: Path) -> str:
    file, copy = folder / "holdfast.db", folder / "copy.db"
    key = made(f"sqlite:///{file}")
    with sqlite3.connect(file) as connection:
        connection.execute("vacuum into ?", [str(copy)])
    keep("sqlite.db.gz", copy.read_bytes())
    return key


def postgresql() -> str:
    with postgres_database() as url:
        key = made(url)
        arguments = ["pg_dump", "--inserts", "--no-owner", "--no-privileges", "--no-comments", url]
        keep("postgresql.sql.gz", subprocess.run(arguments, check=True, capture_output=True).stdout)
    return key


def mysql() -> str:
    with mysql_database() as url:
        key, address = made(url), urlsplit(url)
        arguments = [
            *("mariadb-dump", "--host", str(address.hostname), "--port", str(address.port or 3306)),
            *("--user", str(address.username), "--compact", "--hex-blob", "--single-transaction", address.path[1:]),
        ]
        keep("mysql.sql.gz", subprocess.run(arguments, check=True, capture_output=True).stdout)
    return key


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        keys = {"sqlite": sqlite(Path(folder)), "postgresql": postgresql(), "mysql": mysql()}
    (FOLDER / "api_keys.json").write_text(json.dumps(keys, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        asyncio.run(die(*sys.argv[1:]))
    else:
        main()
