"""`holdfast retire`: what ended long ago leaves the store, and nothing else."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from tests.unit.cli.conftest import Call

STORE = ("--store", "sqlite:///kept.db")
WORKFLOWS = """
from holdfast import Workflow
from holdfast.activities import Event, Sequence, SetVariable
ending = Workflow(Sequence(SetVariable("x", 1)), id="ending", variables={"x": 0})
other = Workflow(Sequence(SetVariable("x", 2)), id="other", variables={"x": 0})
waiting = Workflow(Sequence(Event("go")), id="waiting")
"""


@pytest.fixture(autouse=True)
def instances(folder: Path, call: Call) -> None:
    """Two that ended, of two workflows, and one that waits."""
    (folder / "retired.py").write_text(WORKFLOWS)
    for name in ("ending", "other", "waiting"):
        told = call("run", f"retired:{name}", *STORE)
        assert told.exit_code == 0, told.output


def figures(call: Call, *options: str) -> dict[str, int]:
    told = call("retire", *options, "--json", *STORE)
    assert told.exit_code == 0, told.output
    found: dict[str, int] = json.loads(told.stdout)
    return found


def test_what_ended_goes_and_what_waits_stays(call: Call) -> None:
    assert figures(call, "--older-than", "P1D", "--check") == {"expired": 0}
    assert figures(call, "--older-than", "1d", "--check") == {"expired": 0}
    assert figures(call, "--older-than", "PT0S", "--check") == {"expired": 2}
    assert figures(call, "--older-than", "PT0S") == {"deleted": 2, "archived": 0, "kept": 0}
    assert figures(call, "--older-than", "PT0S") == {"deleted": 0, "archived": 0, "kept": 0}


def test_the_rule_chooses(call: Call) -> None:
    assert figures(call, "--older-than", "PT0S", "--status", "faulted", "--check") == {"expired": 0}
    assert figures(call, "--older-than", "PT0S", "--tenant", "somebody", "--check") == {"expired": 0}
    assert figures(call, "--older-than", "PT0S", "--definition", "other")["deleted"] == 1
    assert figures(call, "--older-than", "PT0S", "--limit", "1", "--check") == {"expired": 1}


def test_they_are_in_the_archive_first(call: Call, folder: Path) -> None:
    told = call("retire", "--older-than", "PT0S", "--archive", "ended.jsonl.gz", *STORE)

    assert told.output == "2 instances deleted, archived in ended.jsonl.gz\n"
    lines = gzip.decompress((folder / "ended.jsonl.gz").read_bytes()).splitlines()
    assert {json.loads(line)["instance"]["definition_id"] for line in lines} == {"ending", "other"}


@pytest.mark.parametrize(
    ("options", "remedy"),
    [
        (("--older-than", "30 days"), "is not a duration"),
        (("--older-than", "-P1D"), "such as P30D"),
        (("--older-than", "PT0S", "--archive", "nowhere/a.jsonl"), "Create it first"),
        (("--older-than", "PT0S", "--archive", "."), "Name a file in it"),
        (("--older-than", "PT0S", "--store", "sqlite:///kep.db"), "Did you mean"),
        (("--older-than", "PT0S", "--status", "running"), "'finished', 'canceled', 'faulted'"),
        ((), "--older-than"),
    ],
)
def test_bad_input_deletes_nothing(call: Call, options: tuple[str, ...], remedy: str) -> None:
    told = call("retire", *(() if "--store" in options else STORE), *options)

    assert told.exit_code == 2
    assert remedy in told.stderr
    assert figures(call, "--older-than", "PT0S", "--check") == {"expired": 2}
