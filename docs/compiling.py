"""Generator of the page "What compiles" from the tables of the tests: every program on the page is tested."""

from __future__ import annotations

import ast
import html
from collections.abc import Iterator
from pathlib import Path

TESTS = Path(__file__).resolve().parent.parent / "tests"
TRAPS = TESTS / "simulation/test_compiled_traps.py"
REFUSALS = TESTS / "unit/authoring/compiler/test_refusals.py"

INTRODUCTION = """\
This page is generated from the tables of the tests. Each program of the first part runs twice, as plain Python and compiled, with
a suspension, an export and an import at every await: results, errors, the order of effects and the final locals must agree
(`tests/simulation/test_compiled_traps.py`; `test_compiled_programs.py` does the same with random programs). Each program of
the second part is rejected at import, with its line and what to write instead (`tests/unit/authoring/compiler/test_refusals.py`).

In the programs, `act`, `same`, `numbers` and `table` are activities, `see` and `h` are plain functions that record their calls,
and `a` and `xs` are inputs."""


def compiling_page() -> str:
    traps = [f"## Compiles and agrees with Python\n\n{_traps()}"]
    refused = ["## Rejected", _refusals()]
    return "\n\n".join(["# What compiles", INTRODUCTION, *traps, *refused])


def _traps() -> str:
    """The table of the traps, with its headings, which are comments."""
    text = TRAPS.read_text(encoding="utf-8")
    headings = {
        number: line.strip().removeprefix("# -- ")
        for number, line in enumerate(text.splitlines(), 1)
        if line.startswith("    # -- ")
    }
    parts: list[str] = []
    heading = ""
    for line, name, program in _dictionary(text, "TRAPS"):
        found = max((number for number in headings if number < line), default=0)
        if headings.get(found, "") != heading:
            heading = headings[found]
            parts.append(f"\n### {heading.capitalize()}\n\n| | |\n|---|---|")
        parts.append(f"| {name} | {_code(program)} |")
    return "\n".join(parts).strip()


def _refusals() -> str:
    text = REFUSALS.read_text(encoding="utf-8")
    rows = [*_pairs(text, "BODIES"), *_pairs(text, "WHOLE")]
    lines = [f"| `{rule}` | {_code(program)} |" for rule, program in rows]
    return "\n".join(["| rule | |", "|---|---|", *lines])


def _assigned(text: str, name: str) -> ast.expr:
    for node in ast.parse(text).body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id == name:
            return node.value
    raise LookupError(name)


def _dictionary(text: str, name: str) -> Iterator[tuple[int, str, str]]:
    found = _assigned(text, name)
    assert isinstance(found, ast.Dict)
    for key, value in zip(found.keys, found.values, strict=True):
        assert key is not None
        yield key.lineno, ast.literal_eval(key), ast.literal_eval(value)


def _pairs(text: str, name: str) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = ast.literal_eval(_assigned(text, name))
    return found


def _code(program: str) -> str:
    """A program in a cell of a table: lines and indentation are kept."""
    shown = html.escape(program, quote=False).replace("|", "&#124;").replace("  ", "&nbsp; ")
    return f"<code>{'<br>'.join(shown.splitlines())}</code>"
