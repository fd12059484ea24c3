"""Layout of the tests: helper code is in `tests/support`, and the package never imports it."""

from __future__ import annotations

import ast
from pathlib import Path


def test_helper_code_is_in_support(root: Path) -> None:
    """A folder with a `__main__.py` is a program of its own, and `fixtures` holds code that tests run as users' code."""
    tests = root / "tests"
    programs = {path.parent for path in tests.rglob("__main__.py")}
    stray = [
        path.relative_to(root).as_posix()
        for path in sorted(tests.rglob("*.py"))
        if not path.name.startswith("test_")
        and path.name != "conftest.py"
        and path.parent not in programs
        and not {"support", "fixtures"} & set(path.relative_to(tests).parts)
    ]

    assert not stray


def test_support_has_no_tests(root: Path) -> None:
    assert not list((root / "tests/support").rglob("test_*.py"))


def test_the_package_does_not_import_the_tests(root: Path) -> None:
    found = [
        f"{path.relative_to(root).as_posix()} imports {name}"
        for path in sorted((root / "src").rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        for name in _imported(node)
        if name.partition(".")[0] in {"tests", "benchmarks"}
    ]

    assert not found


def _imported(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    return [node.module] if isinstance(node, ast.ImportFrom) and node.module else []
