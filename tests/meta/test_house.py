"""Every module has its place: the tree is the map of the system (docs/architecture.md)."""

from __future__ import annotations

import ast
from pathlib import Path

HOUSE = {
    "__init__.py": "the public API on one screen",
    "__init__.pyi": "the names of the root",
    "activities": "the standard library",
    "api.py": "requests, filters, results and declarations",
    "api.pyi": "the names of `holdfast.api`",
    "authoring": "how people write",
    "cli": "one file per command",
    "client": "the typed client of a server",
    "dispatch": "carrying",
    "elsa": "Elsa 3 documents in and out",
    "engine": "the composition root",
    "errors": "every exception",
    "execution": "thinking",
    "expressions": "one file per language",
    "identity": "who may do what",
    "integrations": "other frameworks",
    "lazy_exports.py": "names that are imported on first use",
    "management": "use cases of people and tools",
    "model": "what things are",
    "persistence": "keeping",
    "plugins.py": "entry points",
    "ports": "the map for extenders",
    "py.typed": "we are typed",
    "runtime": "doing",
    "server": "REST, WebSocket, HTTP endpoints",
    "settings": "every setting",
    "telemetry.py": "every event",
    "tenancy": "who owns what",
    "testing": "for users' tests and ours",
}
LATER = {"tenancy"}
"""Rooms that are planned and not built. Whoever builds one takes it off this list."""

NOWHERE = {"utils", "util", "common", "helpers", "helper", "misc", "shared"}
"""Names that say nothing about what is inside."""


def test_the_tree_is_the_house(root: Path) -> None:
    found = {path.name for path in (root / "src/holdfast").iterdir() if path.name != "__pycache__"}

    assert found == HOUSE.keys() - LATER


def test_no_module_is_a_place_for_things_without_a_place(root: Path) -> None:
    lost = [path for path in (root / "src").rglob("*") if path.stem.strip("_") in NOWHERE]

    assert not lost


def test_every_module_says_what_it_is_for(root: Path) -> None:
    silent = [
        path.relative_to(root).as_posix()
        for path in sorted((root / "src").rglob("*.py"))
        if not ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    ]

    assert not silent


def test_unit_tests_mirror_the_source(root: Path) -> None:
    """A folder of unit tests without a package of that name tests something that is gone; benchmarks have theirs too."""
    rooms = {path.name for path in (root / "tests/unit").iterdir() if path.is_dir() and path.name != "__pycache__"}

    assert rooms <= {name for name in HOUSE if not name.endswith(".py")} | {"benchmarks"}
