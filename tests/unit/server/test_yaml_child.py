"""The program that reads YAML."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from holdfast.server.import_files import CHILD
from holdfast.server.yaml_child import answer


@pytest.mark.parametrize(
    ("text", "value"),
    [("a: [1, x]", {"a": [1, "x"]}), ("a: 2020-01-02", {"a": "2020-01-02"}), ("", None), ("a: &b 1", {"a": 1})],
)
def test_plain_yaml_becomes_json(text: str, value: object) -> None:
    assert answer(text) == {"value": value}


def test_an_alias_is_refused() -> None:
    assert answer("a: &a 1\nb: *a") == {"error": "it uses an alias", "alias": True}


@pytest.mark.parametrize("text", ["[", "[" * 20_000, "!!python/name:os.system", "a: 2020-99-99", "? {a: 1}\n: 2"])
def test_other_texts_are_errors(text: str) -> None:
    assert answer(text)["alias"] is False


def test_the_program_answers_a_list_and_imports_nothing_of_holdfast() -> None:
    done = subprocess.run(
        [sys.executable, "-P", "-v", str(CHILD)], input=b'["a: 1", "["]', capture_output=True, check=True, timeout=60
    )

    assert [set(found) for found in json.loads(done.stdout)] == [{"value"}, {"error", "alias"}]
    assert b"import 'holdfast" not in done.stderr
