"""What import-linter cannot see: `model` and `execution` are handed time, chance and ids; they never ask for them."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

BUILT_IN = {"open", "print", "input"}
ASKING = {"now", "utcnow", "today", "uuid1", "uuid4", "urandom", "getrandbits"}
"""Functions that ask the world for something."""


def questions(source: str) -> list[str]:
    """Calls of such functions; what was handed in (`now()`, `clock.now()`) is not one."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            continue
        match node.func:
            case ast.Name(id=name) if name in BUILT_IN:
                found.append(name)
            case ast.Attribute(value=ast.Name(id="datetime" | "date" | "uuid" | "os" as owner), attr=name) if (
                name in ASKING
            ):
                found.append(f"{owner}.{name}")
    return found


@pytest.mark.parametrize("room", ["model", "execution"])
def test_thinking_asks_the_world_nothing(root: Path, room: str) -> None:
    found = {
        path.name: asked
        for path in (root / "src/holdfast" / room).rglob("*.py")
        if (asked := questions(path.read_text(encoding="utf-8")))
    }

    assert not found


def test_the_check_sees_a_question() -> None:
    assert questions("at = datetime.now(UTC)\nkey = uuid.uuid4()\nprint(clock.now())") == [
        "datetime.now",
        "uuid.uuid4",
        "print",
    ]
