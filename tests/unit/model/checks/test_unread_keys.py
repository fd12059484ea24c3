"""Unknown keys of a document: misspellings are warnings, misplaced options are errors, other keys are kept."""

from __future__ import annotations

import pytest

from holdfast.model.problem import Severity
from holdfast.model.reader import parse_definition
from holdfast.model.validate import validate

UNREAD = {"unknown-key", "misplaced-option"}


def found(**keys: object) -> list[tuple[str, str, Severity]]:
    definition = parse_definition({"id": "d", "root": {"type": "A", "id": "a", **keys}})
    return [
        (item.path, item.code, item.severity) for item in validate(definition, descriptors={}) if item.code in UNREAD
    ]


@pytest.mark.parametrize("key", ["note", "x-tool", "comment"])
def test_a_key_of_another_tool_is_kept(key: str) -> None:
    assert not found(**{key: 1})


def test_a_misspelled_key_is_a_warning() -> None:
    assert found(inptus={}) == [("/root/inptus", "unknown-key", Severity.WARNING)]


def test_an_option_outside_of_options_is_an_error() -> None:
    assert found(timeout="PT3S") == [("/root/timeout", "misplaced-option", Severity.ERROR)]
