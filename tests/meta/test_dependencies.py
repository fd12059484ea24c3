"""What the source imports is what `pyproject.toml` declares, and everything that `make` installs is pinned."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

DISTRIBUTIONS = {
    "quickjs": "quickjs-ng",
    "liquid": "python-liquid",
    "nats": "nats-py",
    "yaml": "pyyaml",
    "argon2": "argon2-cffi",
    "jwt": "pyjwt",
    "opentelemetry": "opentelemetry-api",
}
"""Modules whose package has another name."""

BY_NAME = {"httptools", "python-multipart", "tzdata", "uvloop", "websockets"}
"""Packages that uvicorn, Starlette and zoneinfo load by name when they are there; we declare them so that they are."""

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


@pytest.fixture(scope="module")
def project(root: Path) -> Any:
    return tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def names(requirements: list[str]) -> set[str]:
    return {normal(found[0]) for line in requirements if (found := NAME.match(line))} - {"holdfast"}


def imported(root: Path) -> dict[str, str]:
    """Distributions that the source imports, with a place where it does."""
    found: dict[str, str] = {}
    for path in sorted((root / "src").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            modules: list[str] = []
            if isinstance(node, ast.Import):
                modules = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                modules = [node.module]
            for module in (name.partition(".")[0] for name in modules):
                if module not in sys.stdlib_module_names and module != "holdfast":
                    found.setdefault(normal(DISTRIBUTIONS.get(module, module)), path.relative_to(root).as_posix())
    return found


def test_what_is_imported_is_declared_in_the_core_or_in_an_extra(root: Path, project: Any) -> None:
    extras = [line for lines in project["optional-dependencies"].values() for line in lines]
    declared = names(project["dependencies"]) | names(extras)

    assert {name: place for name, place in imported(root).items() if name not in declared} == {}


def test_what_is_declared_for_users_is_imported(root: Path, project: Any) -> None:
    extras = [line for name, lines in project["optional-dependencies"].items() if name != "dev" for line in lines]

    assert names(project["dependencies"]) | names(extras) <= imported(root).keys() | BY_NAME


def test_everything_that_is_declared_is_pinned_exactly(root: Path, project: Any) -> None:
    lines = (root / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pins = [line for line in lines if line and not line.startswith("#")]
    extras = [line for lines in project["optional-dependencies"].values() for line in lines]

    assert all(re.fullmatch(r"[A-Za-z0-9._-]+==[A-Za-z0-9.]+( ; .+)?", pin) for pin in pins)
    assert names(project["dependencies"]) | names(extras) <= names(pins)


def test_extras_that_messages_and_documents_name_exist(root: Path, project: Any) -> None:
    pages = [root / "README.md", *(root / "docs").rglob("*.md"), *(root / "src").rglob("*.py")]
    named = {
        extra
        for page in pages
        for found in re.findall(r"holdfast\[([\w,-]+)\]", page.read_text(encoding="utf-8"))
        for extra in found.split(",")
    }

    assert {"all", "liquid"} <= named
    assert named <= project["optional-dependencies"].keys()
