"""A module is one idea on a few screens; a function is one screen. Debts are listed and may only shrink."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

MODULE_LINES_MAX = 400
FUNCTION_LINES_MAX = 70

DEBTS: dict[str, int] = {}
"""`path` or `path::function` and its lines now. Mended: remove it. Shorter: write the smaller number. Never longer."""


def functions(tree: ast.Module) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def lines_of(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """From `def` to the end, without the docstring and without functions that it only builds and hands on."""
    inner = {
        line
        for node in ast.walk(function)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node is not function
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }
    first = function.body[0]
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str):
        inner |= set(range(first.lineno, (first.end_lineno or first.lineno) + 1))
    return len(set(range(function.lineno, (function.end_lineno or function.lineno) + 1)) - inner)


def too_long(root: Path) -> dict[str, int]:
    found: dict[str, int] = {}
    for path in sorted((root / "src").rglob("*.py")):
        place, text = path.relative_to(root).as_posix(), path.read_text(encoding="utf-8")
        if len(text.splitlines()) > MODULE_LINES_MAX:
            found[place] = len(text.splitlines())
        for function in functions(ast.parse(text)):
            if lines_of(function) > FUNCTION_LINES_MAX:
                found[f"{place}::{function.name}"] = lines_of(function)
    return found


def test_nothing_is_longer_than_its_limit(root: Path) -> None:
    grown = {place: lines for place, lines in too_long(root).items() if lines > DEBTS.get(place, 0)}

    assert not grown


def test_debts_that_are_paid_are_taken_off_the_list(root: Path) -> None:
    found = too_long(root)

    assert {place: found.get(place) for place in DEBTS} == DEBTS


def test_the_measure_sees_a_long_function() -> None:
    source = "def long():\n    '''Says\n    much.'''\n" + "    x = 1\n" * 70 + "def short():\n    return 1\n"

    assert [lines_of(function) for function in functions(ast.parse(source))] == [71, 2]
