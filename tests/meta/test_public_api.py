"""The public surface: which modules applications import, which names they find there, and that guides use nothing else."""

from __future__ import annotations

import ast
import importlib
import re
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

import holdfast
import holdfast.activities
import holdfast.api
import holdfast.dispatch
import holdfast.testing
from holdfast.lazy_exports import read_stub

ROOT_NAMES_MAX = 45

LISTED = (holdfast, holdfast.activities, holdfast.api)
"""The modules whose names docs/reference/api.md lists."""

LAZY = (*LISTED, holdfast.dispatch, holdfast.testing)

PUBLIC = {
    "holdfast",
    "holdfast.activities",
    "holdfast.api",
    "holdfast.client",
    "holdfast.dispatch",
    "holdfast.dispatch.celery",
    "holdfast.elsa",
    "holdfast.errors",
    "holdfast.integrations.asgi",
    "holdfast.integrations.json_logs",
    "holdfast.integrations.opentelemetry",
    "holdfast.ports",
    "holdfast.server",
    "holdfast.settings",
    "holdfast.telemetry",
    "holdfast.testing",
    "holdfast.testing.store_contract",
    "holdfast.testing.transport_contract",
}
"""The modules that applications may import; docs/reference/api.md has the same table."""

BLOCK = re.compile(r"^ *```(?:python|py)\b[^\n]*\n(?P<code>.*?)^ *```$", re.MULTILINE | re.DOTALL)
INTERNAL = re.compile(r"\bruntime\.node\b|\b(?!self\b|cls\b)\w+\._[a-z]\w*")
"""Access to the node behind a runtime, or to a private attribute of another object."""


def codes(root: Path) -> Iterator[tuple[str, str]]:
    """Every piece of Python that users read: where it stands, and its text."""
    for page in [root / "README.md", *sorted((root / "docs").rglob("*.md"))]:
        for block in BLOCK.finditer(page.read_text(encoding="utf-8")):
            yield page.relative_to(root).as_posix(), textwrap.dedent(block["code"])
    for path in sorted((root / "examples").rglob("*.py")):
        yield path.relative_to(root).as_posix(), path.read_text(encoding="utf-8")


def imports(code: str) -> Iterator[tuple[str, str | None]]:
    """The modules of Holdfast that a text imports, with the name for `from module import name`."""
    for line in ast.walk(ast.parse(code)):
        if isinstance(line, ast.Import):
            yield from ((alias.name, None) for alias in line.names if alias.name.split(".")[0] == "holdfast")
        elif isinstance(line, ast.ImportFrom) and line.module and line.module.split(".")[0] == "holdfast":
            yield from ((line.module, alias.name) for alias in line.names)


def stub_of(module: ModuleType) -> Path:
    return Path(str(module.__file__)).with_suffix(".pyi")


def is_public(module: str, name: str | None) -> bool:
    if name is None or f"{module}.{name}" in PUBLIC:
        return module in PUBLIC
    home = importlib.import_module(module)
    offered = getattr(home, "__all__", None) or [
        key for key, thing in vars(home).items() if getattr(thing, "__module__", None) == module
    ]
    return module in PUBLIC and name in offered


def test_the_root_is_small() -> None:
    assert len(dir(holdfast)) <= ROOT_NAMES_MAX


def test_every_name_is_public_in_one_module() -> None:
    names = [name for module in LISTED for name in dir(module)]

    assert sorted(names) == sorted(set(names))


@pytest.mark.parametrize("module", LAZY, ids=lambda module: module.__name__)
def test_every_listed_name_is_there(module: ModuleType) -> None:
    assert module.__all__ == dir(module)
    assert all(getattr(module, name) is not None for name in dir(module))


@pytest.mark.parametrize("module", LAZY, ids=lambda module: module.__name__)
def test_a_stub_lists_each_name_once_and_holds_nothing_but_exports(module: ModuleType) -> None:
    """`from a import b as b`: type checkers take no other form for an export."""
    stub = stub_of(module)
    lines = [line for line in ast.parse(stub.read_text(encoding="utf-8")).body if not isinstance(line, ast.AnnAssign)]
    listed = [alias for line in lines if isinstance(line, ast.ImportFrom) for alias in line.names]

    assert all(isinstance(line, ast.ImportFrom) for line in lines)
    assert all(alias.name == alias.asname for alias in listed)
    assert sorted(alias.name for alias in listed) == sorted(read_stub(str(stub))) == dir(module)


@pytest.mark.parametrize("module", LAZY, ids=lambda module: module.__name__)
def test_no_public_name_is_also_a_module(module: ModuleType) -> None:
    """An import of the module would put the module in the place of the name."""
    modules = (
        {path.stem for path in Path(str(module.__file__)).parent.iterdir()} if hasattr(module, "__path__") else set()
    )

    assert not modules & set(dir(module))


def test_nothing_else_is_visible() -> None:
    shown = subprocess.run(
        [sys.executable, "-c", "import holdfast; print(*dir(holdfast))"], capture_output=True, text=True, check=True
    )

    assert shown.stdout.split() == sorted(read_stub(str(stub_of(holdfast))))


def test_a_name_that_does_not_exist_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'holdfast' has no attribute 'Workflo'"):
        getattr(holdfast, "Workflo")  # noqa: B009 - a type checker would refuse the attribute


def test_every_public_class_has_a_docstring() -> None:
    """The page of the public API is made of docstrings."""
    offered = {name: getattr(module, name) for module in LISTED for name in dir(module)}
    silent = [name for name, thing in offered.items() if isinstance(thing, type) and not vars(thing).get("__doc__")]

    assert not silent


def test_the_reference_names_the_public_modules(root: Path) -> None:
    page = (root / "docs/reference/api.md").read_text(encoding="utf-8")
    named = set(re.findall(r"^\| `(holdfast[\w.]*)` \|", page, re.MULTILINE))

    assert named == PUBLIC


def test_guides_and_examples_import_public_names_only(root: Path) -> None:
    named = [(place, *found) for place, code in codes(root) for found in imports(code)]

    assert len(named) > 50
    assert not [item for item in named if not is_public(*item[1:])]


def test_guides_and_examples_reach_into_nothing(root: Path) -> None:
    reached = [(place, found) for place, code in codes(root) for found in INTERNAL.findall(code)]

    assert not reached


def test_a_name_of_another_public_module_says_where_it_is() -> None:
    with pytest.raises(
        ImportError, match=r"'Sequence' is in holdfast\.activities: from holdfast\.activities import Sequence"
    ):
        from holdfast import Sequence  # type: ignore[attr-defined]  # noqa: F401
    with pytest.raises(ImportError, match=r"'DispatchDefinition' is in holdfast\.api"):
        getattr(holdfast, "DispatchDefinition")  # noqa: B009 - a type checker would refuse the attribute
    assert not hasattr(holdfast, "Nothing")
    with pytest.raises(ImportError, match=r"'Prioritised' is now 'Prioritized': from holdfast\.api import Prioritized"):
        from holdfast.api import Prioritised  # type: ignore[attr-defined]  # noqa: F401


@pytest.mark.parametrize("module", ["dispatch", "errors", "testing", "activities", "authoring", "engine"])
def test_a_module_is_imported_from_its_package(module: str) -> None:
    """In a process that has imported nothing else: the hint at moved names must not hide a submodule."""
    program = f"from holdfast import {module}; print({module}.__name__)"
    shown = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert shown.stdout.strip() == f"holdfast.{module}"
