"""Operators' commands straight on a store: the same API as over HTTP, without a socket."""

from __future__ import annotations

import asyncio
import json
from datetime import timedelta
from pathlib import Path

import msgspec
import pytest

from holdfast.model.node_details import NodeDetails
from holdfast.persistence.url import store_from_url
from tests.unit.cli.conftest import Call

STORE = ("--store", "sqlite:///kept.db")
WAITS = {
    "format": "holdfast/definition@1",
    "id": "waits",
    "name": "Waits",
    "variables": [{"name": "said", "type": "string"}],
    "root": {
        "id": "all",
        "type": "Sequence",
        "activities": [
            {
                "id": "go",
                "type": "Event",
                "inputs": {"event_name": "go"},
                "outputs": {"result": "said"},
            },
            {"id": "say", "type": "WriteLine", "inputs": {"text": {"$variable": "said"}}},
        ],
    },
}


@pytest.fixture
def instance(call: Call, folder: Path) -> str:
    (folder / "waits.json").write_text(json.dumps(WAITS))
    told = call("run", "waits.json", "--json", *STORE)
    assert told.exit_code == 0, told.output
    found: str = json.loads(told.stdout.splitlines()[-1])["instance_id"]
    return found


def test_instances_are_found_read_and_resumed(call: Call, instance: str) -> None:
    listed = json.loads(call("instances", "list", "--status", "suspended", "--json", *STORE).stdout)
    assert [item["id"] for item in listed] == [instance]
    assert instance in call("instances", "list", *STORE).stdout
    shown = call("instances", "show", instance, *STORE).stdout
    assert "suspended" in shown
    assert "go" in shown
    assert call("instances", "resume", instance, "--payload", '"hello"', *STORE).stdout == f"{instance} finished\n"
    events = json.loads(call("instances", "journal", instance, "--json", *STORE).stdout)
    assert [item["activity_id"] for item in events if item["event"] == "completed"][:2] == ["go", "say"]
    assert call("instances", "delete", instance, *STORE).stdout == f"{instance} deleted\n"
    assert json.loads(call("instances", "list", "--json", *STORE).stdout) == []


def test_a_cancel_names_the_reason(call: Call, instance: str) -> None:
    assert call("instances", "cancel", instance, "--why", "wrong order", *STORE).stdout == f"{instance} canceled\n"
    assert "wrong order" in call("instances", "journal", instance, *STORE).stdout


def test_what_cannot_be_done_is_said(call: Call, instance: str) -> None:
    gone = call("instances", "show", "nobody", *STORE)
    assert gone.exit_code == 2
    assert "There is no instance 'nobody'" in gone.stderr
    both = call("instances", "list", "--server", "http://127.0.0.1:1", *STORE)
    assert both.exit_code == 2
    assert "not both" in both.stderr
    lives = call("instances", "delete", instance, *STORE)
    assert lives.exit_code == 1
    assert "refused" in lives.stderr
    none = call("instances", "retry", "--all-faulted", *STORE)
    assert (none.exit_code, none.stdout) == (0, "0 retried\n")


def test_definitions_are_listed_published_and_started(call: Call, instance: str) -> None:
    listed = json.loads(call("definitions", "list", "--json", *STORE).stdout)
    assert [item["id"] for item in listed] == ["waits"]
    assert json.loads(call("definitions", "show", "waits", *STORE).stdout)["root"]["id"] == "all"
    assert "retracted" in call("definitions", "retract", "waits", *STORE).stdout
    refused = call("definitions", "start", "waits", *STORE)
    assert refused.exit_code == 2
    assert "published" in refused.stderr
    assert "published" in call("definitions", "publish", "waits", *STORE).stdout
    first = call("definitions", "start", "waits", "--idempotency-key", "k1", *STORE).stdout
    again = call("definitions", "start", "waits", "--idempotency-key", "k1", *STORE).stdout
    assert "pending" in first
    assert first.split()[1] == again.split()[1]


def test_definitions_that_use_a_published_one_are_reported(call: Call, folder: Path) -> None:
    """They were published again, or not, without a word."""
    part = {
        "format": "holdfast/definition@1",
        "id": "part",
        "name": "Part",
        "inputs": [{"name": "who", "type": "string"}],
        "options": {"usable_as_activity": True, "auto_update_consumers": True},
        "root": {"id": "line", "type": "WriteLine", "inputs": {"text": "one"}},
    }
    whole = {
        "format": "holdfast/definition@1",
        "id": "whole",
        "root": {"id": "p", "type": "Part", "inputs": {"who": "x"}},
    }
    for document in (part, whole):
        (folder / f"{document['id']}.json").write_text(json.dumps(document), encoding="utf-8")
        told = call("import", f"{document['id']}.json", "--with", "part.json", *STORE)
        assert told.exit_code == 0, told.output
    (folder / "part.json").write_text(json.dumps({**part, "description": "The same."}), encoding="utf-8")
    again = call("definitions", "publish", "part", *STORE)
    assert (again.exit_code, "whole uses it and was published again" in again.stdout) == (0, True)

    (folder / "part.json").write_text(json.dumps({**part, "inputs": []}), encoding="utf-8")
    imported = call("import", "part.json", *STORE)
    published = call("definitions", "publish", "part", *STORE)

    for told in (imported, published):
        assert told.exit_code == 1
        assert "whole uses it and keeps the version before, since it could not be published again" in told.stderr


def test_lists_that_are_empty_show_their_columns(call: Call, folder: Path) -> None:
    call("migrate", *STORE)
    for command in ("tasks", "schedules", "dead-letters"):
        told = call(command, "list", *STORE)
        assert told.exit_code == 0, told.output
        assert told.stdout.startswith("id ")


def test_the_doctor_looks_at_a_store_and_an_instance(call: Call, folder: Path, instance: str) -> None:
    found = json.loads(call("doctor", "--json", *STORE).stdout)
    assert {item["subject"]: item["level"] for item in found}["schema"] == "ok"
    told = call("doctor", "instance", instance, *STORE)
    assert told.exit_code == 0
    assert "'go' waits for a stimulus 'Event'" in told.stdout
    (folder / "empty.db").touch()
    behind = call("doctor", "--store", "sqlite:///empty.db")
    assert behind.exit_code == 1
    assert "holdfast migrate" in behind.stdout


def test_json_that_is_none_is_said_of_the_option_that_holds_it(call: Call, folder: Path) -> None:
    told = call("tasks", "complete", "x", "--answer", "{bad", *STORE)
    assert told.exit_code == 2
    assert "--answer is not JSON" in told.stderr
    assert "--input" not in told.stderr


def test_an_instance_is_forked_and_an_activity_skipped(call: Call, instance: str) -> None:
    told = call("instances", "fork", instance, "--why", "once more", *STORE).stdout
    forked = told.split()[0]

    assert told == f"{forked} forked from {instance}\n"
    assert call("instances", "skip", forked, "go", *STORE).stdout == f"{forked} finished\n"
    assert "suspended" in call("instances", "show", instance, *STORE).stdout


def test_moments_say_when_nothing_is_kept(call: Call, instance: str) -> None:
    told = call("instances", "moments", instance, *STORE)
    refused = call("instances", "moments", instance, "--at", "1", *STORE)

    assert "history = snapshots" in told.stderr
    assert refused.exit_code == 2
    assert f"The state of instance {instance} at version 1 is not stored." in refused.stderr


def test_moments_are_listed_and_shown(call: Call, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOLDFAST_HISTORY", "snapshots")
    (folder / "waits.json").write_text(json.dumps(WAITS))
    name = json.loads(call("run", "waits.json", "--json", *STORE).stdout.splitlines()[-1])["instance_id"]
    assert call("instances", "resume", name, "--payload", '"hello"', *STORE).exit_code == 0
    first, last = json.loads(call("instances", "moments", name, "--json", *STORE).stdout)

    assert (first["status"], last["status"]) == ("suspended", "finished")
    assert "bookmark b1" in call("instances", "moments", name, "--at", str(first["version"]), *STORE).stdout
    assert "hello" in call("instances", "moments", name, "--at", str(last["version"]), "--json", *STORE).stdout


def test_a_definition_is_exported_as_a_file(call: Call, instance: str, folder: Path) -> None:
    assert call("definitions", "export", "waits", "--to", "python", "-o", "waits.py", *STORE).exit_code == 0
    ours = json.loads(call("definitions", "export", "waits", *STORE).stdout)

    assert "workflow = Workflow(" in (folder / "waits.py").read_text()
    assert call("validate", "waits.py:workflow").exit_code == 0
    assert ours["id"] == "waits"


SHOP = """
from dataclasses import dataclass
from holdfast import activity, wait_for, workflow

@dataclass
class Order:
    number: str

@activity
async def ship(order: Order) -> str:
    return order.number

@workflow
async def shipping(order: Order) -> str:
    await wait_for("go")
    return await ship(order)
"""


def test_workflows_of_code_are_started_and_explained_with_their_module(call: Call, folder: Path) -> None:
    (folder / "code_shop.py").write_text(SHOP)
    order = '{"order": {"number": "7"}}'
    imported = call("import", "code_shop:shipping", *STORE)
    assert imported.exit_code == 0, imported.output
    alone = call("definitions", "start", "shipping", "--input", order, *STORE)
    assert (alone.exit_code, "unknown type 'ship'" in alone.stderr) == (2, True)
    assert "--activities code_shop" in alone.stderr

    code = ("--activities", "code_shop")
    started = call("definitions", "start", "shipping", "--input", order, *code, *STORE)

    assert started.exit_code == 0, started.output
    (found,) = json.loads(call("instances", "list", "--json", *STORE).stdout)
    assert call("doctor", "instance", found["id"], *code, *STORE).exit_code == 0
    assert "--activities requires --store" in call("instances", "list", "--server", "http://x", *code).stderr


@pytest.mark.parametrize("verb", ["replay", "discard"])
def test_a_dead_letter_that_is_not_there_is_told(call: Call, instance: str, verb: str) -> None:
    told = call("dead-letters", verb, "w9", *STORE)

    assert told.exit_code == 1
    assert told.stdout.startswith("0 ")
    assert "There is no dead letter 'w9'." in told.stderr


def test_an_event_is_accepted_or_refused_for_who_is_not_there(call: Call, instance: str) -> None:
    told = call("events", "send", "go", "--payload", '"now"', "--instance", instance, *STORE)

    assert told.stdout.endswith(" accepted\n")
    assert json.loads(call("events", "expired", "--json", *STORE).stdout) == []
    assert call("events", "send", "go", "--instance", "nobody", *STORE).exit_code == 2


async def _register(node: str, queues: tuple[str, ...]) -> None:
    """A process elsewhere, alive for a while."""
    store = store_from_url(STORE[1])
    await store.open()
    details = msgspec.json.encode(NodeDetails(tenant="", queues=queues))
    await store.register_node(node, time_to_live=timedelta(minutes=5), details=details)
    await store.close()


@pytest.mark.parametrize("command", [("events", "send", "go"), ("definitions", "start", "waits")])
def test_what_waits_for_a_worker_says_so_until_there_is_one(
    call: Call, instance: str, command: tuple[str, ...]
) -> None:
    alone = call(*command, *STORE)
    asyncio.run(_register("door", ()))
    with_a_door = call(*command, *STORE)
    asyncio.run(_register("elsewhere", ("mail",)))
    with_another_queue = call(*command, *STORE)
    asyncio.run(_register("worker", ("default",)))
    served = call(*command, *STORE)

    for told in (alone, with_a_door, with_another_queue):
        assert told.exit_code == 0, told.output
        assert f"holdfast worker {' '.join(STORE)}" in told.stderr
    assert (served.exit_code, served.stderr) == (0, "")


def test_the_doctor_counts_those_that_take_work(call: Call, instance: str) -> None:
    asyncio.run(_register("door", ()))
    (none,) = [item for item in _findings(call) if item["subject"] == "nodes"]
    asyncio.run(_register("worker", ("default",)))
    (some,) = [item for item in _findings(call) if item["subject"] == "nodes"]

    assert (none["level"], none["message"]) == ("hint", "1 alive: door; none takes work")
    assert "holdfast worker" in none["remedy"]
    assert (some["level"], some["message"]) == ("ok", "2 alive: door, worker")


def _findings(call: Call) -> list[dict[str, str]]:
    found: list[dict[str, str]] = json.loads(call("doctor", "--json", *STORE).stdout)
    return found
