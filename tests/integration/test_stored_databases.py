"""Databases of an earlier commit: each one opens with the current code, and every instance in it continues.

tests/integration/stored_data/README.md lists what the databases hold and how they were made.
"""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest

from holdfast import Holdfast, Status
from holdfast.errors import AlreadyStarted, EffectHeld
from holdfast.server import create_app
from tests.integration.stored_data import documents
from tests.integration.stored_data.workflows import (
    BASKET,
    FUNCTIONS,
    Approval,
    Basket,
    Colour,
    Strict,
    approving,
    holding,
    knocking,
    world,
)
from tests.support.services.mysql import executed

STATUSES = {
    "suspended": "announced approving asking branching calling calling-3 due far holding kept knocking not-matched shop single "
    "task touring waiting-1 waiting-2 whole whole-8",
    "running": "capturing charging packing",
    "faulted": "faulted",
    "finished": "charged whole-7",
    "pending": "queued",
}
INSTANCES = {name: status for status, names in STATUSES.items() for name in names.split()}
FOLDER = Path(__file__).parent / "stored_data"
SOON = timedelta(seconds=20)


class Stored(NamedTuple):
    kind: str
    url: str


@pytest.fixture(autouse=True)
def _world() -> Iterator[None]:
    world.reset()
    yield
    world.reset()


@pytest.fixture(
    params=[
        "sqlite",
        pytest.param("postgresql", marks=pytest.mark.service("postgres")),
        pytest.param("mysql", marks=pytest.mark.service("mysql")),
    ]
)
def empty(request: pytest.FixtureRequest, tmp_path: Path) -> Stored:
    """An empty database for one test. Not async: databases are made outside the loop of the test."""
    if request.param == "sqlite":
        return Stored("sqlite", f"sqlite:///{tmp_path / 'holdfast.db'}")
    fixture = {"postgresql": "fresh_postgres", "mysql": "fresh_mysql"}[request.param]
    return Stored(request.param, request.getfixturevalue(fixture))


@pytest.fixture
async def stored(empty: Stored) -> Stored:
    """A restored copy of the stored database."""
    kind, url = empty
    if kind == "sqlite":
        content = gzip.decompress((FOLDER / "sqlite.db.gz").read_bytes())
        Path(url.removeprefix("sqlite:///")).write_bytes(content)
        return empty
    script = gzip.decompress((FOLDER / f"{kind}.sql.gz").read_bytes()).decode()
    if kind == "postgresql":
        await restore_postgres(url, script)
    else:
        await executed(url, *(part for part in script.split(";\n") if part.strip()))
    return empty


async def restore_postgres(url: str, script: str) -> None:
    import asyncpg  # type: ignore[import-untyped]  # the driver brings no types

    connection = await asyncpg.connect(url)
    try:
        await connection.execute("\n".join(line for line in script.splitlines() if not line.startswith("\\")))
    finally:
        await connection.close()


def application(stored: Stored, **options: Any) -> Holdfast:
    given: dict[str, Any] = {
        "workflows": [*FUNCTIONS, knocking("front"), holding()],
        "types": [Basket, Colour],
        "queues": "default,elsewhere",
        "node_sweep": timedelta(milliseconds=200),
        **options,
    }
    return Holdfast(store=stored.url, entry_points=False, node="later", **given)


@pytest.fixture
async def app(stored: Stored) -> AsyncIterator[Holdfast]:
    """A node that takes work on the restored database."""
    async with application(stored) as app:
        yield app


@pytest.fixture
async def idle(stored: Stored) -> AsyncIterator[Holdfast]:
    """A node that takes no work: everything stays as it was stored."""
    async with application(stored, worker=False) as app:
        yield app


@asynccontextmanager
async def served(app: Holdfast, *, auth: bool = False) -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(create_app(app, auth=auth, studio=False))
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
        yield client


async def result(app: Holdfast, instance_id: str) -> Any:
    async with asyncio.timeout(30):
        ended = await app.runtime.wait_at_rest(instance_id)
    assert ended.status is Status.FINISHED
    return ended.outputs.get("result", ended.outputs)


# -- reading -----------------------------------------------------------------------------------------------------------


async def test_every_instance_and_journal_is_read(idle: Holdfast) -> None:
    read = {name: await idle.runtime.read(name) for name in INSTANCES}
    journals = {name: await idle.runtime.journal(name) for name in INSTANCES}

    assert {name: item.status.value for name, item in read.items()} == INSTANCES
    assert all([entry.sequence for entry in found] == list(range(len(found))) for found in journals.values())
    assert read["charged"].outputs == {"result": "A charged"}
    assert [entry.event.value for entry in journals["charged"]][-1] == "instance_finished"
    assert [item.type for item in read["capturing"].incidents] == ["lost"]
    assert "OutOfStock" in read["faulted"].incidents[0].type
    assert read["far"].bookmarks[0].due == datetime(2126, 1, 1, tzinfo=UTC)
    assert read["holding"].variables == {
        "answer": "",
        "basket": BASKET,
        "colour": Colour.BLUE,
        "price": Decimal("1.50"),
        "moment": BASKET.items[0].made,
        "span": timedelta(minutes=3),
        "raw": b"\x00\xff",
        "long": [f"line {number}" for number in range(600)],
    }


async def test_snapshots_are_read(idle: Holdfast) -> None:
    (moment,) = await idle.runtime.moments("holding")

    past = await idle.runtime.read_at("holding", moment.version)

    assert (past.status, past.variables["basket"]) == (Status.SUSPENDED, BASKET)


async def test_lists_and_statistics(idle: Holdfast) -> None:
    async with served(idle) as client:
        listed = (await client.get("/api/instances?limit=100")).json()["items"]
        counts = (await client.get("/api/instances/counts")).json()
        faulted = (await client.get("/api/instances?status=faulted")).json()["items"]
        incidents = (await client.get("/api/incidents")).json()
        answers = [
            await client.get(f"/api/{path}")
            for path in ("statistics", "nodes", "bookmarks", "triggers", "schedules", "definitions", "dead-letters")
        ]
        journals = [await client.get(f"/api/instances/{name}/journal") for name in INSTANCES]

    assert {item["id"]: item["status"] for item in listed} == INSTANCES
    assert "suspended" in str(counts)
    assert [item["id"] for item in faulted] == ["faulted"]
    assert {item["instance_id"] for item in incidents} == {"capturing", "faulted"}
    assert {answer.status_code for answer in answers + journals} == {200}


# -- instances that wait -----------------------------------------------------------------------------------------------


async def test_a_function_continues_with_all_its_values(app: Holdfast) -> None:
    await app.send(Approval(approved=True, by="ann"), key=str(BASKET.id))

    assert await result(app, "approving") == {
        "approved": [True, "ann"],
        "total": Decimal("24.00"),
        "cheapest": ["same object", Colour.BLUE, BASKET.items[1].made],
        "long": [600, "a note 599"],
        "policy": [3, timedelta(seconds=2)],
        "status": True,
        "kinds": [1, 2],
        "raw": b"\x00\xff",
        "moment": datetime(2026, 2, 3, 4, 5, tzinfo=UTC),
        "caught": [True, "Instance none has no result: for the test"],
    }


async def test_instances_stay_on_their_version(app: Holdfast) -> None:
    for name in ("waiting-1", "waiting-2"):
        await app.send("go", 7, instance_id=name)

    assert await result(app, "waiting-1") == {"answer": "one", "got": 7}
    assert await result(app, "waiting-2") == {"answer": "two", "got": 7}


async def test_parents_continue_when_their_children_end(app: Holdfast) -> None:
    await app.send("part", "late", key="right")
    await app.send("go", 7, instance_id="calling-3")

    assert await result(app, "whole") == ["left: done", "right: late"]
    answer = (await result(app, "calling"))["answer"]
    assert (answer["status"], answer["outputs"]) == ("finished", {"answer": "two", "got": 7})


async def test_a_loop_continues_where_it_was(app: Holdfast) -> None:
    await app.send("next", "a letter", instance_id="touring")

    assert await result(app, "touring") == {
        "seen": ["Rome", "a letter", "Bern"],
        "ended": "tour charged",
        "branches": ["Rome charged", "Oslo charged", "Bern charged"],
    }


async def test_the_results_of_parallel_branches_are_kept(app: Holdfast) -> None:
    await app.send("next", "a letter", instance_id="branching")

    assert await result(app, "branching") == ["Rome charged", "Oslo charged", "a letter"]


async def test_a_canceled_instance_runs_its_stored_compensations(app: Holdfast) -> None:
    await app.runtime.operators.cancel("touring", who="ann")

    assert (await app.runtime.wait_at_rest("touring")).status is Status.CANCELED
    assert [call for call in world.calls if call.startswith("refund")] == ["refund Oslo", "refund Rome"]


async def test_an_activity_class_resumes_by_its_bookmark(app: Holdfast) -> None:
    await app.runtime.stimuli.send("Knock", {"door": "vault"}, input="it is me", wait=SOON)

    assert await result(app, "holding") == {}
    assert (await app.runtime.read("holding")).variables["answer"] == "it is me"


async def test_an_instance_waits_for_http_requests(idle: Holdfast) -> None:
    named = {"X-Workflow-Instance-Id": "shop"}
    async with served(idle) as client:
        taken = await client.post("/workflows/shop", json={"article": "rope"}, headers=named)
        said = await client.put("/workflows/shop/ship", headers=named)
        started = await client.post("/workflows/shop", json={"article": "lamp"})

    assert (taken.status_code, taken.json()) == (201, {"taken": "rope"})
    assert (said.status_code, said.text) == (200, "You said ship")
    assert (started.status_code, started.json()) == (201, {"taken": "lamp"})
    assert (await idle.runtime.read("shop")).status is Status.FINISHED


async def test_tasks_are_completed(app: Holdfast) -> None:
    (asked,) = (await app.runtime.tasks.list(instance_id="asking")).items
    (claimed,) = (await app.runtime.tasks.list(instance_id="task")).items
    assert (asked.title, asked.role, asked.about) == ("Approve the order", "boss", {"order": "D"})
    assert (claimed.state.value, claimed.claimed_by, claimed.form) == ("claimed", "kim", documents.FORM)

    await app.runtime.tasks.complete(asked.id, "ann", {"approved": True, "by": "ann"})
    await app.runtime.tasks.complete(claimed.id, "kim", {"approved": False})

    assert await result(app, "asking") == [True, "ann"]
    assert await result(app, "task") == {"answer": {"approved": False}}


# -- time --------------------------------------------------------------------------------------------------------------


async def test_due_timers_fire_and_others_wait(app: Holdfast) -> None:
    assert await result(app, "due") == "reminded"
    assert (await app.runtime.read("far")).status is Status.SUSPENDED


async def test_an_overdue_schedule_starts_an_instance(stored: Stored) -> None:
    ended = asyncio.Queue[str]()
    app = application(stored)
    app.on(lambda _, fields: ended.put_nowait(fields["instance_id"]), "instance.finished")
    async with asyncio.timeout(30), app:
        while not (found := await ended.get()).startswith("each-minute"):
            pass
        schedules = {item.definition_id: item for item in await app.runtime.schedules.list()}
        night = await app.runtime.schedules.resume(schedules["nightly"].id)

        assert (await app.runtime.read(found)).status is Status.FINISHED
        assert schedules["each-minute"].fired is not None
        assert (schedules["nightly"].paused, schedules["nightly"].zone) == (True, "Europe/Berlin")
        assert night.due is not None


# -- effects, faults, dead letters -------------------------------------------------------------------------------------


async def test_the_effect_of_a_dead_node_is_taken_over(app: Holdfast) -> None:
    assert await result(app, "charging") == "C charged"


async def test_a_held_effect_is_recovered(app: Holdfast) -> None:
    with pytest.raises(EffectHeld):
        await app.runtime.operators.retry("capturing", who="ann")

    assert await app.runtime.operators.recover("capturing", who="ann", why="the bank has no trace") == 1

    assert await result(app, "capturing") == "C captured"
    assert world.calls.count("capture") == 1


async def test_a_faulted_instance_is_retried(app: Holdfast) -> None:
    world.mended = True

    assert (await app.runtime.operators.retry("faulted", who="ann", why="mended")).changed

    assert await result(app, "faulted") == "B reserved"


async def test_a_dead_letter_is_replayed(app: Holdfast) -> None:
    world.mended = True
    (letter,) = await app.runtime.operators.dead_letters()
    assert (letter.reason, letter.work.instance_id) == ("refused", "announced")

    assert await app.runtime.operators.replay([letter.work.id], who="ann") == 1

    assert await result(app, "announced") == -1


async def test_a_broadcast_reaches_a_stored_wait(app: Holdfast) -> None:
    await app.send(Strict(5), broadcast=True)

    assert await result(app, "announced") == 5


# -- rows that wait for a worker ---------------------------------------------------------------------------------------


async def test_stored_work_is_done(app: Holdfast) -> None:
    assert await result(app, "queued") == "F charged"
    assert await result(app, "packing") == "E packed"


@pytest.mark.parametrize("name", ["kept", "not-matched"])
async def test_an_early_event_is_delivered(app: Holdfast, name: str) -> None:
    await app.send("one", 1, instance_id=name)

    assert await result(app, name) == [1, 2]


async def test_a_stored_stimulus_resumes_and_starts(stored: Stored) -> None:
    ended = asyncio.Queue[Any]()
    app = application(stored)
    app.on(lambda _, fields: ended.put_nowait(fields), "instance.finished")
    async with asyncio.timeout(30), app:
        answers: dict[str, str] = {}
        while len(answers) < 2:
            fields = await ended.get()
            if fields["definition_id"] == "knocking":
                answers[fields["instance_id"]] = (await app.runtime.read(fields["instance_id"])).variables["answer"]

        assert set(answers.values()) == {"who is there"}
        assert "knocking" in answers


async def test_outbox_rows_are_delivered(stored: Stored) -> None:
    delivered = asyncio.Queue[str]()

    class Bus:
        name = "bus"
        events = ("instance.started",)

        async def deliver(self, event: Any) -> None:
            delivered.put_nowait(event.instance_id)

    expected = {"approving", "asking", "due", "far", "knocking", "not-matched", "packing", "shop", "single", "task"}
    async with asyncio.timeout(30), application(stored, outlets=[Bus()]):
        while expected:
            expected.discard(await delivered.get())


# -- guards, definitions, accounts -------------------------------------------------------------------------------------


async def test_keys_and_slots_hold(idle: Holdfast) -> None:
    again = await idle.start(approving.options(idempotency_key="web-17"), BASKET, "a note")
    single = await idle.runtime.client("another").create_and_run("single")

    assert (again.id, single.instance_id) == ("approving", "single")
    with pytest.raises(AlreadyStarted):
        await idle.start(approving.options(instance_id="approving"), BASKET, "a note")


async def test_definitions_open_and_new_versions_are_published(idle: Holdfast) -> None:
    definitions = idle.runtime.definitions
    versions = {name: await definitions.versions(name) for name in ("waiting", "knocking", *(f.id for f in FUNCTIONS))}
    assert [(item.version, item.published) for item in versions["waiting"]] == [(3, False), (2, True), (1, False)]
    assert len(versions["knocking"]) == 2
    assert {len(versions[function.id]) for function in FUNCTIONS} == {1}, "the compiled form of a function changed"
    for name, found in versions.items():
        for item in found:
            assert (await definitions.definition(name, item.version)).id == name

    written = await definitions.save_and_publish(documents.waiting("four"))
    coded = await definitions.deploy(knocking("cellar"))

    assert (written.version.version, written.live_instances) == (3, 3)
    assert (coded.version, coded.published) == (3, True)
    started = await idle.runtime.client("new").create_and_run("waiting")
    await idle.runtime.operators.resume(started.instance_id, payload=8, who="ann")
    assert await result(idle, "new") == {"answer": "four", "got": 8}


async def test_users_and_keys_sign_in(stored: Stored, idle: Holdfast) -> None:
    key = json.loads((FOLDER / "api_keys.json").read_text(encoding="utf-8"))[stored.kind]
    async with served(idle, auth=True) as client:
        signed = await client.post("/api/auth/login", json={"user": "kim", "password": documents.PASSWORD})
        by_token = await client.get(
            "/api/auth/me", headers={"Authorization": f"Bearer {signed.json()['access_token']}"}
        )
        by_key = await client.get("/api/instances/charged", headers={"X-Api-Key": key})
        refused = await client.get("/api/instances/charged")

    assert (by_token.json()["id"], by_token.json()["roles"]) == ("kim", ["admin"])
    assert (by_key.status_code, by_key.json()["status"]) == (200, "finished")
    assert refused.status_code == 401
