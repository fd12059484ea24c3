"""The table of `holdfast.telemetry` is what the source really emits."""

from __future__ import annotations

import ast
from pathlib import Path

from holdfast import telemetry

MORE = "**"


def emitted(root: Path) -> list[tuple[str, str, set[str]]]:
    """Every `telemetry.emit("name", field=…)` in the source: where, which, with what."""
    found = []
    for path in sorted((root / "src").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            match node:
                case ast.Call(
                    func=ast.Attribute(value=ast.Name(id="telemetry"), attr="emit"), args=[name], keywords=given
                ):
                    assert isinstance(name, ast.Constant), f"{path}:{node.lineno}: write the event's name in place"
                    fields = {keyword.arg or MORE for keyword in given}
                    found.append((f"{path.relative_to(root)}:{node.lineno}", str(name.value), fields))
    return found


def test_what_is_emitted_is_in_the_table_with_the_same_fields(root: Path) -> None:
    """Fields that come as `**more` are compared where events are heard: tests/integration/test_events.py."""
    known = {event.name: set(event.fields) for event in telemetry.EVENTS}

    wrong = [
        (place, name, fields)
        for place, name, fields in emitted(root)
        if not (fields - {MORE} <= known.get(name, set()) if MORE in fields else fields == known.get(name))
    ]

    assert not wrong


def test_what_is_in_the_table_is_emitted(root: Path) -> None:
    assert {event.name for event in telemetry.EVENTS} == {name for _, name, _ in emitted(root)}


def test_no_event_stands_twice_in_the_table() -> None:
    assert len(telemetry.BY_NAME) == len(telemetry.EVENTS)
