"""A run in one process, the rest of it in others."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.support.python_process import Holdfast


def kept(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "state.json").read_text(encoding="utf-8"))
    return found


def test_the_state_file_is_all_that_is_needed(holdfast: Holdfast, folder: Path) -> None:
    first = holdfast("run", "parent.json", "--with", "approval.json", "--state", "state.json")
    for file in folder.glob("*.json"):
        if file.name != "state.json":
            file.unlink()

    second = holdfast("resume", "--state", "state.json", "--input", '"yes"', "--json")

    assert "holdfast resume --state state.json" in first.stderr
    *lines, report = second.stdout.splitlines()
    assert (second.returncode, lines) == (0, ["Decided: yes", "parent ends"])
    assert json.loads(report)["status"] == "finished"
    assert kept(folder)["status"] == "finished"


def test_bookmarks_one_by_one(holdfast: Holdfast, folder: Path) -> None:
    holdfast("run", "two_questions.json", "--state", "state.json")

    unnamed = holdfast("resume", "--state", "state.json")
    unknown = holdfast("resume", "--state", "state.json", "--bookmark", "third")
    by_activity = holdfast("resume", "--state", "state.json", "--bookmark", "second")
    rest = holdfast("resume", "--state", "state.json", "--bookmark", "b1")
    over = holdfast("resume", "--state", "state.json")

    assert unnamed.returncode == unknown.returncode == over.returncode == 2
    assert "several bookmarks" in unnamed.stderr
    assert "b2: Event" in unknown.stderr
    assert (by_activity.stdout, rest.stdout) == ("second came\n", "first came\n")
    assert "is finished and cannot be resumed" in over.stderr
    assert kept(folder)["status"] == "finished"


def test_auto_resume_finishes_the_rest(holdfast: Holdfast) -> None:
    holdfast("run", "two_questions.json", "--state", "state.json")

    run = holdfast("resume", "--state", "state.json", "--auto-resume")

    assert (run.returncode, run.stdout, run.stderr) == (0, "first came\nsecond came\n", "")


def test_a_workflow_in_python_is_imported_again_with_its_types(holdfast: Holdfast, folder: Path) -> None:
    holdfast("run", "shop:order", "--input", '{"pieces": 3}', "--state", "state.json")

    run = holdfast("resume", "--state", "state.json", "--json")
    (folder / "shop.py").unlink()
    gone = holdfast("resume", "--state", "state.json")

    assert json.loads(run.stdout)["outputs"] == {"total": "4.50"}
    assert gone.returncode == 2
    assert "no module 'shop'" in gone.stderr


def test_other_content_is_not_continued(holdfast: Holdfast, folder: Path) -> None:
    holdfast("run", "approval.json", "--input", '{"amount": 3}', "--state", "state.json")
    document = kept(folder)
    document["workflow"]["document"]["root"]["activities"].pop()
    (folder / "state.json").write_text(json.dumps(document), encoding="utf-8")

    run = holdfast("resume", "--state", "state.json")

    assert run.returncode == 2
    assert "different content" in run.stderr


def test_a_file_that_is_something_else_is_not_overwritten(holdfast: Holdfast, folder: Path) -> None:
    before = (folder / "approval.json").read_text(encoding="utf-8")

    run = holdfast("run", "approval.json", "--input", '{"amount": 3}', "--state", "approval.json")

    assert (run.returncode, run.stdout) == (2, "")
    assert "Name another file" in run.stderr
    assert (folder / "approval.json").read_text(encoding="utf-8") == before


def test_nothing_is_left_beside_the_state(holdfast: Holdfast, folder: Path) -> None:
    before = {path.name for path in folder.iterdir()}

    holdfast("run", "delay.json", "--state", "state.json")

    assert {path.name for path in folder.iterdir()} - before == {"state.json"}
