"""One public door: what `holdfast` offers is what it lists, to people, to programs and to type checkers."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import holdfast


def test_every_listed_name_is_there_and_listed_once() -> None:
    assert len(set(holdfast.__all__)) == len(holdfast.__all__)
    assert all(getattr(holdfast, name) is not None for name in holdfast.__all__)


def test_no_public_name_is_also_a_module(root: Path) -> None:
    """Importing the module would put it in the place of the name."""
    modules = {path.stem for path in (root / "src/holdfast").iterdir()}

    assert not modules & set(holdfast.__all__)


def test_nothing_else_is_visible() -> None:
    shown = subprocess.run(
        [sys.executable, "-c", "import holdfast; print(*dir(holdfast))"], capture_output=True, text=True, check=True
    )

    assert {name for name in shown.stdout.split() if not name.startswith("_")} == set(holdfast.__all__)


def test_type_checkers_see_the_same_names(root: Path) -> None:
    tree = ast.parse((root / "src/holdfast/__init__.py").read_text(encoding="utf-8"))
    seen = {
        alias.asname or alias.name
        for block in tree.body
        if isinstance(block, ast.If) and isinstance(block.test, ast.Name) and block.test.id == "TYPE_CHECKING"
        for line in block.body
        if isinstance(line, ast.ImportFrom)
        for alias in line.names
    }

    assert seen == set(holdfast.__all__)


def test_a_name_that_does_not_exist_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="Workflo"):
        getattr(holdfast, "Workflo")  # noqa: B009 - a type checker would refuse the attribute


def test_every_public_name_says_what_it_is() -> None:
    """In a docstring of its own: the page of the public API is made of them."""
    offered = {name: getattr(holdfast, name) for name in holdfast.__all__}
    silent = [name for name, thing in offered.items() if isinstance(thing, type) and not vars(thing).get("__doc__")]

    assert not silent
