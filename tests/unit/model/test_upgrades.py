from __future__ import annotations

from typing import Any

import pytest

from holdfast.model.definition import FORMAT
from holdfast.model.upgrades import CHAIN, bring_up_to_date


def _to_2(document: dict[str, Any]) -> dict[str, Any]:
    return {**document, "format": "holdfast/definition@2", "steps": document["activities"]}


def _to_3(document: dict[str, Any]) -> dict[str, Any]:
    return {**document, "format": "holdfast/definition@3", "count": len(document["steps"])}


FAKE = {1: _to_2, 2: _to_3}


def test_a_document_goes_through_every_change_since_its_format() -> None:
    for document in ({"activities": [1]}, {"format": "holdfast/definition@1", "activities": [1]}):
        upgraded, problems = bring_up_to_date(document, chain=FAKE, current=3)
        assert problems == []
        assert upgraded == {"format": "holdfast/definition@3", "activities": [1], "steps": [1], "count": 1}
    upgraded, _ = bring_up_to_date({"format": "holdfast/definition@2", "steps": []}, chain=FAKE, current=3)
    assert upgraded == {"format": "holdfast/definition@3", "steps": [], "count": 0}


def test_a_document_of_the_current_format_is_left_alone() -> None:
    document = {"format": FORMAT}
    assert bring_up_to_date(document) == (document, [])


def test_a_newer_format_is_a_problem_with_a_remedy() -> None:
    upgraded, problems = bring_up_to_date({"format": "holdfast/definition@4"}, chain=FAKE, current=3)
    assert upgraded is None
    assert problems[0].code == "newer-format"
    assert "Upgrade Holdfast" in problems[0].remedy


@pytest.mark.parametrize(
    "text",
    [
        None,
        5,
        "",
        "holdfast/definition",
        "holdfast/definition@0",
        "holdfast/definition@x",
        "other@1",
        "holdfast/definition@²",
    ],
)
def test_a_format_that_is_not_ours_is_a_problem(text: Any) -> None:
    upgraded, problems = bring_up_to_date({"format": text})
    assert upgraded is None
    assert [problem.code for problem in problems] == ["unknown-format"]


def test_a_change_that_fails_on_a_broken_document_is_a_problem() -> None:
    upgraded, problems = bring_up_to_date({}, chain=FAKE, current=3)
    assert upgraded is None
    assert problems[0].code == "upgrade-failed"


def test_every_released_format_can_be_upgraded() -> None:
    current = int(FORMAT.rpartition("@")[2])
    assert sorted(CHAIN) == list(range(1, current))
