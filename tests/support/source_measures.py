"""Measures of the source tree: import cycles, imports across borders, names of modules, words of docstrings."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path

VAGUE_PRONOUNS = re.compile(r"\b(?:whoever|whom|nobody|somebody|anybody)\b", re.IGNORECASE)
HEADLESS_OPENING = re.compile(r"(?:What|Who|Where|How|From)\b")


class SourceTree:
    """The modules of `src/holdfast` by dotted name. Imports under `TYPE_CHECKING` and inside of functions count."""

    def __init__(self, root: Path) -> None:
        self.paths = {_name(path, root / "src"): path for path in sorted((root / "src/holdfast").rglob("*.py"))}
        self.texts = {name: path.read_text(encoding="utf-8") for name, path in self.paths.items()}
        self.trees = {name: ast.parse(text) for name, text in self.texts.items()}

    def imports(self, *, in_functions: bool = True) -> dict[str, set[str]]:
        """The modules of the tree that each module imports."""
        return {
            name: {target for target in self._targets(tree, in_functions=in_functions) if target != name}
            for name, tree in self.trees.items()
        }

    def _targets(self, tree: ast.Module, *, in_functions: bool) -> Iterator[str]:
        for node in ast.walk(tree) if in_functions else _outside_functions(tree.body):
            if isinstance(node, ast.ImportFrom) and node.module is not None:
                for alias in node.names:
                    full = f"{node.module}.{alias.name}"
                    target = full if full in self.paths else node.module
                    if target in self.paths:
                        yield target
            elif isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names if alias.name in self.paths)

    def names_imported(self, name: str, module: str) -> list[str]:
        """Modules that import this name from this module."""
        return [
            importer
            for importer, tree in self.trees.items()
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom)
            and node.module == module
            and any(alias.name == name for alias in node.names)
        ]

    def calls(self, text: str) -> list[str]:
        """Modules that contain this call, once for each place."""
        return [name for name, source in self.texts.items() for _ in range(source.count(f"{text}("))]

    def vague_pronouns(self) -> dict[str, int]:
        counts = {name: len(VAGUE_PRONOUNS.findall(text)) for name, text in self.texts.items()}
        return {name: count for name, count in counts.items() if count}

    def headless_docstrings(self) -> list[str]:
        return [name for name, tree in self.trees.items() if HEADLESS_OPENING.match(ast.get_docstring(tree) or "")]


@lru_cache(1)
def source_tree(root: Path) -> SourceTree:
    return SourceTree(root)


def largest_cycle(graph: Mapping[str, set[str]]) -> list[str]:
    """The largest set of modules that import each other, directly or not (Tarjan's strongly connected components)."""
    order: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    largest: list[str] = []

    def visit(module: str) -> None:
        nonlocal largest
        order[module] = low[module] = len(order)
        stack.append(module)
        for target in graph[module]:
            if target not in order:
                visit(target)
                low[module] = min(low[module], low[target])
            elif target in stack:
                low[module] = min(low[module], order[target])
        if low[module] == order[module]:
            place = stack.index(module)
            component = stack[place:]
            del stack[place:]
            if len(component) > len(largest):
                largest = sorted(component)

    for module in graph:
        if module not in order:
            visit(module)
    return largest


def _name(path: Path, source: Path) -> str:
    parts = path.relative_to(source).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _outside_functions(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    for node in body:
        yield node
        if isinstance(node, ast.If | ast.Try):
            yield from _outside_functions([*node.body, *node.orelse])
