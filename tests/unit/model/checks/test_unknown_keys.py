"""Unknown keys of a document: probable mistakes are reported, keys of other tools are not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from holdfast.engine import Holdfast
from holdfast.model.problem import Problem, Severity

ENGINE = Holdfast(entry_points=False)


def problems(definition: Mapping[str, Any], activity: Mapping[str, Any]) -> list[Problem]:
    root = {"type": "WriteLine", "id": "line", "inputs": {"text": "hi"}, **activity}
    return list(ENGINE.validate({"format": "holdfast/definition@1", "id": "keys", "root": root, **definition}))


@pytest.mark.parametrize(
    ("definition", "activity", "path"),
    [({"timeout": "PT5S"}, {}, "/timeout"), ({}, {"retry": {"attempts": 2}}, "/root/retry")],
)
def test_an_option_outside_of_the_options_is_an_error(
    definition: dict[str, Any], activity: dict[str, Any], path: str
) -> None:
    (problem,) = problems(definition, activity)

    assert (problem.path, problem.code, problem.severity) == (path, "misplaced-option", Severity.ERROR)
    assert problem.remedy == "Move it into 'options'."


@pytest.mark.parametrize(
    ("definition", "activity", "path", "meant"),
    [({"optoins": {}}, {}, "/optoins", "options"), ({}, {"ouputs": {}}, "/root/ouputs", "outputs")],
)
def test_a_misspelled_key_is_a_warning(
    definition: dict[str, Any], activity: dict[str, Any], path: str, meant: str
) -> None:
    (problem,) = problems(definition, activity)

    assert (problem.path, problem.code, problem.severity) == (path, "unknown-key", Severity.WARNING)
    assert problem.remedy == f"Did you mean '{meant}'?"


def test_keys_of_other_tools_are_not_reported() -> None:
    assert problems({"note": "x", "x-editor": {"zoom": 2}}, {"note": "y"}) == []
