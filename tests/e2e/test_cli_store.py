"""Runs that a store keeps: started by one process, gone on with by others, also after `kill -9`."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.support.python_process import Holdfast

SLOW = '''
import asyncio
from pathlib import Path
from holdfast import Workflow, activity, expr
from holdfast.activities import Event, Sequence, WriteLine


@activity
async def slow() -> str:
    """Hangs the first time."""
    begun = len(list(Path().glob("begun*")))
    Path(f"begun{begun}").touch()
    if not begun:
        await asyncio.sleep(600)
    return "slept"


flow = Workflow(
    Sequence(WriteLine("one"), slow.bind(result="x"), WriteLine(expr("x")), Event("go", result="x"), WriteLine(expr("x"))),
    variables={"x": ""},
)
'''
STORE = ("--store", "sqlite:///kept.db")


def instance_of(told: str) -> str:
    return next(line.split()[1] for line in told.splitlines() if line.startswith("instance "))


def test_an_instance_goes_on_in_other_processes(holdfast: Holdfast, folder: Path) -> None:
    first = holdfast("run", "two_questions.json", *STORE)
    identity = instance_of(first.stderr)
    for file in folder.glob("*.json"):
        file.unlink()

    unnamed = holdfast("resume", identity, *STORE)
    unknown = holdfast("resume", identity, *STORE, "--bookmark", "third")
    one = holdfast("resume", identity, *STORE, "--bookmark", "second")
    rest = holdfast("resume", identity, *STORE, "--json")
    ended = holdfast("resume", identity, *STORE)

    assert first.returncode == 0
    assert f"holdfast resume {identity} --store sqlite:///kept.db" in first.stderr
    assert (unnamed.returncode, unknown.returncode) == (2, 2)
    assert "b1" in unnamed.stderr
    assert one.returncode == 0, one.stderr
    assert json.loads(rest.stdout.splitlines()[-1])["status"] == "finished"
    assert ended.returncode == 2
    assert "is finished" in ended.stderr


@pytest.mark.parametrize("strategy", ["ActivityExecuting", "ActivityExecuted"])
def test_an_elsa_document_with_a_commit_strategy_ends(
    holdfast: Holdfast, folder: Path, root: Path, strategy: str
) -> None:
    document = json.loads((root / "examples/05_elsa.json").read_bytes())
    (folder / "elsa.json").write_text(json.dumps({**document, "options": {"commitStrategyName": strategy}}))

    run = holdfast("run", "elsa.json", *STORE, "--json")

    assert run.returncode == 0, run.stderr
    assert run.stdout.splitlines()[:2] == ["Elsa says 42", "Liquid says 43"]
    assert json.loads(run.stdout.splitlines()[-1])["status"] == "finished"


def test_an_unknown_commit_strategy_is_refused_with_the_known_ones(holdfast: Holdfast, folder: Path) -> None:
    document = json.loads((folder / "approval.json").read_text())
    document["options"] = {**document.get("options", {}), "commit": "often"}
    (folder / "often.json").write_text(json.dumps(document))

    for command in (("validate", "often.json"), ("run", "often.json"), ("run", "often.json", *STORE)):
        told = holdfast(*command)
        assert told.returncode != 0
        assert "activity_executed, periodic, always" in told.stdout + told.stderr, (command, told)


def test_children_of_a_stored_run(holdfast: Holdfast) -> None:
    first = holdfast("run", "parent.json", "--with", "approval.json", *STORE)
    identity = instance_of(first.stderr)

    second = holdfast("resume", identity, *STORE, "--with", "approval.json", "--input", '"yes"', "--json")

    *lines, report = second.stdout.splitlines()
    assert (second.returncode, lines) == (0, ["Decided: yes", "parent ends"])
    assert json.loads(report)["status"] == "finished"


def test_a_killed_process_is_taken_over(
    holdfast: Holdfast, folder: Path, command: list[str], environment: dict[str, str]
) -> None:
    (folder / "slow.py").write_text(SLOW, encoding="utf-8")
    process = subprocess.Popen(
        [*command, "run", "slow.py:flow", *STORE],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )
    until = time.monotonic() + 60
    while not (folder / "begun0").exists():
        assert process.poll() is None
        assert time.monotonic() < until
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    printed, told = process.communicate()
    identity = instance_of(told)

    taken = holdfast("resume", identity, *STORE, "--activities", "slow")
    rest = holdfast("resume", identity, *STORE, "--activities", "slow", "--input", '"bye"')

    assert printed == "one\n"
    assert (taken.returncode, taken.stdout) == (0, "slept\n")
    assert "its work is taken over" in taken.stderr
    assert (rest.returncode, rest.stdout) == (0, "bye\n")
    assert len(list(folder.glob("begun*"))) == 2


def test_waiting_out_a_delay_and_resuming_all(holdfast: Holdfast, folder: Path) -> None:
    steps = [
        {"type": "Delay", "inputs": {"duration": "PT0.05S"}},
        {"type": "Event", "inputs": {"event_name": "go"}},
        {"type": "WriteLine", "inputs": {"text": "done"}},
    ]
    document = {"id": "naps", "root": {"type": "Sequence", "activities": steps}}
    (folder / "naps.json").write_text(json.dumps(document), encoding="utf-8")

    done = holdfast("run", "naps.json", *STORE, "--wait", "--auto-resume", "--json")

    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1])["status"] == "finished"


def test_definitions_come_from_the_store(holdfast: Holdfast, folder: Path) -> None:
    imported = holdfast("import", "approval.json", *STORE)
    again = holdfast("import", "approval.json", *STORE)
    run = holdfast("run", "parent.json", *STORE)

    assert (imported.returncode, again.returncode) == (0, 0)
    assert imported.stdout.endswith(": imported\n")
    assert again.stdout.endswith(": unchanged\n")
    assert run.returncode == 0
    assert "waits at" in run.stderr


def test_migrations(holdfast: Holdfast, folder: Path) -> None:
    (folder / "kept.db").touch()
    pending = holdfast("migrate", "--check", *STORE)
    applied = holdfast("migrate", *STORE)
    current = holdfast("migrate", "--check", "--json", *STORE)

    assert pending.returncode == 1
    assert pending.stdout.startswith("pending ")
    assert (applied.returncode, current.returncode) == (0, 0)
    assert json.loads(current.stdout)["pending"] == []


def test_nothing_is_imported_if_one_file_is_wrong(holdfast: Holdfast, folder: Path) -> None:
    cron = {
        "type": "Cron",
        "id": "c",
        "inputs": {"expression": "0 9 * * *", "zone": "Mars/Base"},
        "options": {"can_start": True},
    }
    (folder / "mars.json").write_text(json.dumps({"format": "holdfast/definition@1", "id": "mars", "root": cron}))
    holdfast("migrate", *STORE)

    refused = holdfast("import", "approval.json", "mars.json", *STORE)

    assert refused.returncode == 2
    assert "mars.json: /root/inputs/zone: error: There is no time zone 'Mars/Base'. Write it as" in refused.stderr
    assert json.loads(holdfast("definitions", "list", *STORE, "--json").stdout) == []


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("run", "approval.json", "--store", "nowhere"), "is not a store address"),
        (("run", "approval.json", "--store", "sqllite:///x.db"), "Did you mean sqlite?"),
        (("run", "approval.json", "--store", "sqlite:///no/such/folder/x.db"), "folder"),
        (("run", "approval.json", "--store", "postgresql://me:secret@127.0.0.1:1/x"), "does not answer"),
        (("run", "approval.json", "--store", "memory://", "--state", "x"), "cannot be combined"),
        (("resume", "nobody", *STORE), "no instance 'nobody'"),
        (("resume", "nobody"), "Name the run to resume"),
        (("resume", *STORE), "Name the run to resume"),
        (("import", "missing.json", *STORE), "There is no file"),
        (("migrate", "--store", "what:///x"), "No store is registered"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(
    holdfast: Holdfast, arguments: tuple[str, ...], told: str, folder: Path
) -> None:
    (folder / "kept.db").touch()
    done = holdfast(*arguments)

    assert done.returncode == 2
    assert told in done.stderr
    assert "secret" not in done.stderr
    assert len([line for line in done.stderr.splitlines() if not line.startswith("instance ")]) == 1, done.stderr
