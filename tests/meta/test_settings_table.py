"""A setting that nobody reads is a promise that nobody keeps."""

from __future__ import annotations

import ast
from pathlib import Path

from holdfast.settings import describe_settings


def test_every_setting_is_read_somewhere(root: Path) -> None:
    read = {
        node.attr
        for path in (root / "src").rglob("*.py")
        if path.parent.name != "settings"
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute)
        and (
            (isinstance(node.value, ast.Name) and node.value.id == "settings")
            or (isinstance(node.value, ast.Attribute) and node.value.attr == "settings")
        )
    }

    assert {row.name for row in describe_settings()} <= read
