"""The conformance cases that the project was given, run as they are, where they lie beside the repository."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from holdfast.elsa import elsa_status

_FOLDER = Path(__file__).parents[2].parent / "shared" / "conformance" / "elsa"
_NEEDS_A_SERVER = {"http-hello-world", "trigger-rows", "queue-dead-letter", "events-global"}


def _cases() -> list[dict[str, Any]]:
    file = _FOLDER / "cases.json"
    if not file.exists():
        return []
    cases: list[dict[str, Any]] = json.loads(file.read_text(encoding="utf-8"))
    return [case for case in cases if case["kind"] == "json" and case["id"] not in _NEEDS_A_SERVER]


@pytest.mark.parametrize("case", _cases(), ids=lambda case: case["id"])
async def test_a_given_case(case: dict[str, Any], played: Callable[..., Coroutine[Any, Any, tuple[Any, int]]]) -> None:
    result, _ = await played(
        (_FOLDER / case["path"]).read_bytes(),
        [(_FOLDER / name).read_bytes() for name in case["dependencies"]],
        mode=case["execution_mode"],
        inputs=case["input"],
        steps=[{"resume": "all"}] if any(step["type"] == "resume_all_bookmarks" for step in case["stimuli"]) else (),
    )
    expected = case["expected"]
    if expected["lines_match"] == "exact":
        assert result.lines == expected["written_lines"]
    elif expected["lines_match"] == "set":
        assert sorted(result.lines) == sorted(expected["written_lines"])
    elif expected["lines_match"] == "contains":
        assert Counter(expected["written_lines"]) <= Counter(result.lines)
    assert elsa_status(result.status) == (expected["status"], expected["sub_status"])
    assert {name: result.outputs.get(name) for name in expected["outputs"]} == expected["outputs"]
