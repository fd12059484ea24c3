"""The given Elsa cases through the command line, where they lie beside the repository."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from holdfast.elsa import elsa_status
from holdfast.model.instance import Status
from tests.support.python_process import Holdfast

FOLDER = Path(__file__).parents[2].parent / "shared" / "conformance" / "elsa"
NEEDS_A_SERVER = {"http-hello-world"}


def cases() -> list[dict[str, Any]]:
    file = FOLDER / "cases.json"
    if not file.exists():
        return []
    found: list[dict[str, Any]] = json.loads(file.read_text(encoding="utf-8"))
    return [case for case in found if case["kind"] == "json" and case["id"] not in NEEDS_A_SERVER]


@pytest.mark.parametrize("case", cases(), ids=lambda case: case["id"])
def test_a_given_case_from_the_command_line(case: dict[str, Any], holdfast: Holdfast) -> None:
    others = [word for name in case["dependencies"] for word in ("--with", str(FOLDER / name))]
    given = ["--flowchart-mode", case["execution_mode"], "--input", json.dumps(case["input"])]

    run = holdfast("run", str(FOLDER / case["path"]), *others, *given, "--auto-resume", "--json")

    assert not run.stderr
    *lines, last = run.stdout.removesuffix("\n").split("\n")
    report, expected = json.loads(last), case["expected"]
    if expected["lines_match"] == "exact":
        assert lines == expected["written_lines"]
    elif expected["lines_match"] == "set":
        assert sorted(lines) == sorted(expected["written_lines"])
    else:
        assert Counter(expected["written_lines"]) <= Counter(lines)
    assert elsa_status(Status(report["status"])) == (expected["status"], expected["sub_status"])
    assert run.returncode == (1 if report["status"] == "faulted" else 0)
    assert {name: report["outputs"].get(name) for name in expected["outputs"]} == expected["outputs"]


def test_to_python_and_back(holdfast: Holdfast, folder: Path) -> None:
    written = holdfast("convert", "approval.json", "--to", "python", "-o", "approval.py")
    back = holdfast("convert", "approval.py:workflow", "--to", "holdfast", "-o", "back.json")
    same = holdfast("diff", "approval.json", "back.json")
    chart = holdfast("convert", "elsa_fork.json", "--to", "python")

    assert (written.returncode, back.returncode, same.returncode) == (0, 0, 0), written.stderr + back.stderr
    assert "no change that affects execution" in same.stdout
    assert chart.returncode == 0, chart.stderr
    assert "Workflow(" in chart.stdout
