"""Tests are found by path: `src/holdfast/a/b.py` has its tests in `tests/unit/a/test_b.py`, or in `tests/integration/a/test_b.py`
where the module needs a store, a broker or another process.

`modules_without_test.txt` lists the modules that have neither. The list may only shrink: a new module comes with its test.
"""

from __future__ import annotations

import ast
from pathlib import Path

PACKAGES = ("execution", "management", "model", "persistence", "runtime", "server")
"""The packages whose modules must have a test of their own."""
EXCEPTIONS_MAX = 119
"""Lines of the list. Lower this number with the list, never raise it."""


def listed() -> list[str]:
    return (Path(__file__).parent / "modules_without_test.txt").read_text(encoding="utf-8").split()


def modules(root: Path) -> list[Path]:
    """Modules with code: data alone (`ports`-like structs, tables of constants) needs no test."""
    source = root / "src/holdfast"
    return [
        path.relative_to(source)
        for package in PACKAGES
        for path in sorted((source / package).rglob("*.py"))
        if path.name != "__init__.py" and _has_functions(path)
    ]


def _has_functions(path: Path) -> bool:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return any(isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) for node in ast.walk(tree))


def has_test(root: Path, module: Path) -> bool:
    name = module.with_name(f"test_{module.name}")
    return any((root / "tests" / kind / name).exists() for kind in ("unit", "integration"))


def test_every_module_has_its_test_by_path(root: Path) -> None:
    untested = {module.as_posix() for module in modules(root) if not has_test(root, module)}

    new = sorted(untested - set(listed()))
    assert not new, "write a test, or move the line if the module was renamed: tests/meta/modules_without_test.txt"


def test_the_list_of_exceptions_only_shrinks(root: Path) -> None:
    untested = {module.as_posix() for module in modules(root) if not has_test(root, module)}

    done = sorted(set(listed()) - untested)
    assert not done, "take these lines off tests/meta/modules_without_test.txt: tested, renamed or gone"
    assert len(listed()) <= EXCEPTIONS_MAX
    assert listed() == sorted(set(listed()))


def test_every_unit_test_of_these_packages_has_its_module(root: Path) -> None:
    source, unit = root / "src/holdfast", root / "tests/unit"
    stray = [
        path.relative_to(root).as_posix()
        for package in PACKAGES
        for path in sorted((unit / package).rglob("test_*.py"))
        for module in [source / path.relative_to(unit).with_name(path.name.removeprefix("test_"))]
        if not module.exists() and not module.with_suffix("").is_dir()
    ]

    assert not stray
