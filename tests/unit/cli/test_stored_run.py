"""Runs that a store keeps: what a person is told to type next works as it stands."""

from __future__ import annotations

import io
import json
import shlex
import sys
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from click.testing import Result

from holdfast.cli.tables import show_table
from tests.unit.cli.conftest import Call

STORE = ("--store", "sqlite:///kept.db")
ORDERS = """
from dataclasses import dataclass
from datetime import timedelta
from holdfast import activity, sleep, wait_for, workflow

@dataclass
class Approval:
    approved: bool

@activity
async def charge(order: str) -> str:
    if order == "free":
        raise ValueError("nothing to charge")
    return order

@workflow
async def fulfil(order: str) -> str:
    answer = await wait_for(Approval, key=order)
    return await charge(order) if answer.approved else "refused"

@workflow
async def napping() -> None:
    await sleep(timedelta(days=3))

@workflow
async def blinking() -> None:
    await sleep(timedelta(milliseconds=1))

@workflow
async def dozing() -> None:
    await sleep(timedelta(seconds=4))
"""


@pytest.fixture(autouse=True)
def orders(folder: Path) -> None:
    (folder / "kept_orders.py").write_text(ORDERS)


def suggested(told: Result, command: str) -> list[str]:
    """The arguments of the last line that names the command."""
    line = next(line for line in reversed(told.stderr.splitlines()) if command in line)
    return shlex.split(line[line.index(command) :].replace(" [--input JSON]", ""))[1:]


def started(call: Call, order: str = "7") -> Result:
    told = call("run", "kept_orders:fulfil", "--input", f'{{"order": "{order}"}}', *STORE)
    assert told.exit_code == 0, told.output
    return told


def test_the_command_that_resumes_it_brings_the_code(call: Call) -> None:
    told = call(*suggested(started(call), "holdfast resume"), "--input", '{"approved": true}', "--json")

    assert told.exit_code == 0, told.output
    assert '"outputs": {"result": "7"}' in told.stdout


def test_what_failed_is_run_again_and_not_begun_again(call: Call) -> None:
    go_on = suggested(started(call, "free"), "holdfast resume")
    failed = call(*go_on, "--input", '{"approved": true}')
    assert failed.exit_code == 1
    assert "nothing to charge" in failed.stderr

    again = call(*go_on, "--input", "true")
    assert again.exit_code == 2
    assert suggested(again, "holdfast instances retry") == suggested(failed, "holdfast instances retry")
    assert call(*suggested(failed, "holdfast instances retry")).exit_code == 0


def test_an_answer_of_another_type_can_be_given_again(call: Call) -> None:
    go_on = suggested(started(call), "holdfast resume")
    refused = call(*go_on)
    assert refused.exit_code == 2
    assert "The payload is missing. An Approval has: approved (boolean)." in refused.stderr

    assert call(*go_on, "--input", '{"approved": true}').exit_code == 0


def test_what_waits_for_its_time_is_left_to_a_worker(call: Call) -> None:
    told = call("run", "kept_orders:napping", *STORE)

    assert suggested(told, "holdfast worker") == ["worker", "kept_orders", *STORE]
    assert call(*suggested(told, "holdfast resume"), "--json").exit_code == 0


def test_what_was_due_meanwhile_is_no_failure(call: Call) -> None:
    go_on = suggested(call("run", "kept_orders:blinking", *STORE), "holdfast resume")
    told = call(*go_on, "--json")

    assert told.exit_code == 0, told.output
    assert '"status": "finished"' in told.stdout


@pytest.mark.slow
def test_a_timer_is_waited_out_and_not_cut_short(call: Call) -> None:
    go_on = suggested(call("run", "kept_orders:dozing", *STORE), "holdfast resume")
    told = call(*go_on, "--wait", "--json")
    (kept,) = json.loads(call("instances", "list", "--json", *STORE).stdout)

    assert '"status": "finished"' in told.stdout, told.output
    assert datetime.fromisoformat(kept["updated"]) - datetime.fromisoformat(kept["created"]) >= timedelta(seconds=4)


def test_what_is_refused_is_not_kept(call: Call) -> None:
    told = call("run", "kept_orders:fulfil", "--input", '{"ordre": "7"}', *STORE)

    assert told.exit_code == 2
    assert "is kept" not in told.stderr


def test_an_instance_without_its_code_says_which_module_is_missing(
    call: Call, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    identity = suggested(started(call), "holdfast resume")[1]
    monkeypatch.delitem(sys.modules, "kept_orders")

    shown = call("instances", "show", identity, *STORE)
    assert "--activities kept_orders" in shown.stdout
    assert "'Approval' with key 7" in call("instances", "show", identity, "--activities", "kept_orders", *STORE).stdout


def test_a_key_of_a_server_is_not_taken_for_one_of_an_event(
    call: Call, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started(call)
    told = call("events", "send", "Approval", "--key", "7", *STORE)
    assert told.exit_code == 2
    assert "--event-key" in told.stderr

    monkeypatch.setenv("HOLDFAST_API_KEY", "hfk_1")
    assert call("events", "send", "Approval", "--event-key", "7", *STORE).exit_code == 0


def test_an_event_of_another_shape_is_refused(call: Call) -> None:
    identity = suggested(started(call), "holdfast resume")[1]
    told = call("instances", "resume", identity, "--payload", '{"approved": []}', "--activities", "kept_orders", *STORE)

    assert told.exit_code == 2
    assert "/approved: Expected `bool`, got `array`." in told.stderr
    assert "suspended" in call("instances", "list", *STORE).stdout


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_ids_are_whole_on_a_narrow_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "70")
    terminal = Terminal()
    monkeypatch.setattr("sys.stdout", terminal)

    show_table(
        ("id", "definition", "status", "correlation", "created", "updated"),
        [("6GY9G9FC80G00", "a_name v1", "suspended", "", *["2026-11-16 14:27:08"] * 2)],
    )

    for word in ("6GY9G9FC80G00", "suspended", "2026-11-16"):
        assert word in terminal.getvalue()
    assert "…" not in terminal.getvalue()
    assert "correlation" not in terminal.getvalue()


# -- in a file ---------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_timer_of_a_state_file_is_waited_out_and_not_cut_short(call: Call) -> None:
    begun = json.loads(call("run", "kept_orders:dozing", "--state", "run.json", "--json").stdout)
    due = datetime.fromisoformat(begun["bookmarks"][0]["due"])

    told = call("resume", "--state", "run.json", "--wait", "--json")

    assert json.loads(told.stdout)["status"] == "finished"
    assert datetime.now(due.tzinfo) >= due


def test_a_timer_that_is_cut_short_is_told(call: Call) -> None:
    call("run", "kept_orders:napping", "--state", "run.json")
    from_file = call("resume", "--state", "run.json")
    name = json.loads(call("run", "kept_orders:napping", *STORE, "--json").stdout)["instance_id"]
    from_store = call("resume", name, *STORE, "--activities", "kept_orders")

    for told in (from_file, from_store):
        assert told.exit_code == 0
        assert "Resumed early" in told.stderr
        assert "--wait" in told.stderr
