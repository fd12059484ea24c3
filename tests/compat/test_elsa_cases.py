"""Workflows in Elsa's format do here what they do there: each case of `elsa_cases.json`, on files of our own."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Coroutine, Mapping
from pathlib import Path
from typing import Any

import pytest

_HERE = Path(__file__).parent
_CASES: list[dict[str, Any]] = json.loads((_HERE / "elsa_cases.json").read_text(encoding="utf-8"))["cases"]


@pytest.mark.parametrize("case", _CASES, ids=lambda case: case["name"])
async def test_a_workflow_from_elsa(
    case: dict[str, Any],
    played: Callable[..., Coroutine[Any, Any, tuple[Any, int]]],
    patched: Callable[[Path, Mapping[str, Any]], Any],
) -> None:
    result, waiting = await played(
        patched(_file(case["workflow"]), case.get("patch", {})),
        [_file(name).read_bytes() for name in case.get("with", [])],
        mode=case.get("mode", "counter"),
        inputs=case.get("inputs"),
        steps=case.get("steps", ()),
    )
    expected = case["expect"]
    if "lines" in expected:
        _check_lines(result.lines, expected["lines"], expected.get("compare", "exact"))
    if "status" in expected:
        assert result.status == expected["status"]
    assert {name: result.outputs.get(name) for name in expected.get("outputs", {})} == expected.get("outputs", {})
    assert {name: result.variables.get(name) for name in expected.get("variables", {})} == expected.get("variables", {})
    if "bookmarks_before" in expected:
        assert waiting == expected["bookmarks_before"]
    if "bookmarks_after" in expected:
        assert len(result.bookmarks) == expected["bookmarks_after"]
    _check_story(result, expected)


def _check_lines(lines: list[str], expected: list[str], compare: str) -> None:
    if compare == "exact":
        assert lines == expected
    elif compare == "set":
        assert sorted(lines) == sorted(expected)
    else:
        assert Counter(expected) <= Counter(lines)


def _check_story(result: Any, expected: dict[str, Any]) -> None:
    """Incidents, what faulted, and how often an activity completed."""
    if "incidents" in expected:
        assert [incident.message for incident in result.incidents] == expected["incidents"]
    if "faulted" in expected:
        assert [incident.activity_id for incident in result.incidents] == expected["faulted"]
    if "incident_count" in expected:
        assert len(result.incidents) == expected["incident_count"]
    for text, times in expected.get("counts", {}).items():
        assert result.lines.count(text) == times
    for activity_id, times in expected.get("completed", {}).items():
        completed = [
            entry for entry in result.journal if entry.activity_id == activity_id and entry.event == "completed"
        ]
        assert len(completed) == times


def _file(name: str) -> Path:
    return _HERE / "elsa" / f"{name}.json"


def test_every_file_is_used() -> None:
    used = {name for case in _CASES for name in (case["workflow"], *case.get("with", []))}
    needs_a_server = {"http-fresh-bread"}
    assert {file.stem for file in (_HERE / "elsa").glob("*.json")} == used | needs_a_server
