"""The structure of the source tree: packages, borders, names and language. The limits below may only go down."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

import holdfast
from tests.support.source_measures import SourceTree, largest_cycle, source_tree

PACKAGES = {
    "__init__.py": "the public API",
    "__init__.pyi": "the names of the public API",
    "activities": "the standard activities",
    "api.py": "requests, filters, results and declarations",
    "api.pyi": "the names of `holdfast.api`",
    "authoring": "workflows as Python functions and objects",
    "cli": "the command line, one file per command",
    "client": "the typed client of a server",
    "dispatch": "transports and brokers",
    "elsa": "Elsa 3 documents",
    "engine": "the composition root",
    "errors": "every exception",
    "execution": "pure execution of workflows",
    "expressions": "one package per expression language",
    "identity": "users, keys, roles and tokens",
    "integrations": "other frameworks",
    "lazy_exports.py": "names that are imported on first use",
    "management": "use cases of people and tools",
    "model": "data and pure functions on it",
    "persistence": "stores",
    "plugins.py": "entry points",
    "ports": "interfaces for extenders",
    "py.typed": "the marker of typed packages",
    "runtime": "a node at work",
    "server": "REST, WebSocket and HTTP workflows",
    "settings": "every setting",
    "telemetry.py": "every event",
    "testing": "the test harness and contract suites for users",
}
VAGUE_NAMES = {"utils", "util", "common", "helpers", "helper", "misc", "shared"}

FIELD_TERMS = {
    "authoring",
    "blocking",
    "commit_grouping",
    "hashing",
    "listing",
    "matching",
    "routing",
    "scheduling",
    "scripting",
    "testing",
    "wiring",
}
"""Module names that end with -ing and are nouns of this field."""

LIMITS = {
    "modules of the largest import cycle, with TYPE_CHECKING imports": 6,
    "modules outside of cluster and the composition root that import Node": 0,
    "imports of runtime internals in server, cli and client": 0,
    "names in the root of the public API": 45,
    "vague pronouns (whoever, whom, nobody, somebody, anybody)": 0,
    "module docstrings that open with What, Who, Where, How or From": 0,
    "modules that are named with a gerund": 0,
    "constants named PATIENCE": 0,
    "places that create a durable instance": 1,
    "classes that group commits": 1,
}
"""Each limit may only be lowered."""

RUNTIME_FACADE = re.compile(r"holdfast\.runtime\.(?:facade|handles|inline|result)\b")


@pytest.fixture
def tree(root: Path) -> SourceTree:
    return source_tree(root)


def check(measure: str, found: Sequence[str] | Mapping[str, int]) -> None:
    count = sum(found.values()) if isinstance(found, Mapping) else len(found)
    assert count <= LIMITS[measure], f"{measure}: {count} of at most {LIMITS[measure]}: {found}"


def test_every_package_has_its_duty(root: Path) -> None:
    found = {path.name for path in (root / "src/holdfast").iterdir() if path.name != "__pycache__"}

    assert found == PACKAGES.keys()


def test_no_module_has_a_vague_name(root: Path) -> None:
    assert not [path for path in (root / "src").rglob("*") if path.stem.strip("_") in VAGUE_NAMES]


def test_every_module_has_a_docstring(tree: SourceTree) -> None:
    assert not [name for name, parsed in tree.trees.items() if not ast.get_docstring(parsed)]


def test_folders_of_unit_tests_mirror_the_source(root: Path) -> None:
    """Benchmarks have unit tests of their own."""
    folders = {path.name for path in (root / "tests/unit").iterdir() if path.is_dir() and path.name != "__pycache__"}

    assert folders <= {name for name in PACKAGES if "." not in name} | {"benchmarks"}


def test_import_cycles_are_small(tree: SourceTree) -> None:
    check("modules of the largest import cycle, with TYPE_CHECKING imports", largest_cycle(tree.imports()))


def test_only_the_cluster_and_the_composition_root_know_the_node(tree: SourceTree) -> None:
    importers = tree.names_imported("Node", "holdfast.runtime.cluster.node")

    check(
        "modules outside of cluster and the composition root that import Node",
        [name for name in importers if not name.startswith(("holdfast.runtime.cluster.", "holdfast.engine"))],
    )


def test_server_command_line_and_client_use_the_facade(tree: SourceTree) -> None:
    check(
        "imports of runtime internals in server, cli and client",
        [
            f"{name} -> {target}"
            for name, targets in tree.imports().items()
            if name.startswith(("holdfast.server", "holdfast.cli", "holdfast.client"))
            for target in targets
            if target.startswith("holdfast.runtime.") and not RUNTIME_FACADE.match(target)
        ],
    )


def test_the_root_of_the_public_api_is_small() -> None:
    check("names in the root of the public API", [name for name in dir(holdfast) if not name.startswith("_")])


def test_nouns_are_named(tree: SourceTree) -> None:
    check("vague pronouns (whoever, whom, nobody, somebody, anybody)", tree.vague_pronouns())
    check("module docstrings that open with What, Who, Where, How or From", tree.headless_docstrings())


def test_modules_are_named_with_nouns(tree: SourceTree) -> None:
    gerunds = [name for name in tree.paths if name.endswith("ing") and name.rpartition(".")[2] not in FIELD_TERMS]

    check("modules that are named with a gerund", gerunds)


def test_constants_say_what_they_limit(tree: SourceTree) -> None:
    check("constants named PATIENCE", [name for name, text in tree.texts.items() if re.search(r"\bPATIENCE\b", text)])


def test_there_is_one_way_to_start_and_one_group_commit(tree: SourceTree) -> None:
    starts = [name for name in tree.calls("delivery.start") if not name.startswith("holdfast.runtime.inline")]

    check("places that create a durable instance", starts)
    check("classes that group commits", tree.calls("class GroupCommit:\n    def __init__"))
