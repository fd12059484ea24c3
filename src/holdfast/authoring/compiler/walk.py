"""Tree walking: like `ast.walk` and in the same order, at a third of the cost. Compilation mostly walks trees."""

from __future__ import annotations

import ast
from collections.abc import Iterator

_NOT_NODES = frozenset(
    {
        "id",
        "attr",
        "arg",
        "name",
        "asname",
        "module",
        "level",
        "kind",
        "conversion",
        "simple",
        "is_async",
        "rest",
        "type_comment",
        "kwd_attrs",
        "tag",
    }
)
"""Fields that never hold a node."""


class _Fields(dict[type, tuple[str, ...]]):
    """Fields that may hold nodes, by node class."""

    def __missing__(self, cls: type[ast.AST]) -> tuple[str, ...]:
        own = tuple(name for name in cls._fields if name not in _NOT_NODES)
        if cls is ast.Constant:
            own = ()
        elif cls.__name__ == "TypeAlias":  # Python 3.12: its name is a node
            own = cls._fields
        self[cls] = own
        return own


_FIELDS = _Fields()


def nodes_of(node: ast.AST) -> list[ast.AST]:
    """The node and all its descendants, breadth first."""
    found: list[ast.AST] = [node]
    add, fields = found.append, _FIELDS
    for item in found:
        for name in fields[item.__class__]:
            value = getattr(item, name, None)
            if value.__class__ is list:
                for part in value:
                    if isinstance(part, ast.AST):
                        add(part)
            elif isinstance(value, ast.AST):
                add(value)
    return found


def children_of(node: ast.AST) -> Iterator[ast.AST]:
    """Direct children of the node."""
    for name in _FIELDS[node.__class__]:
        value = getattr(node, name, None)
        if value.__class__ is list:
            for part in value:
                if isinstance(part, ast.AST):
                    yield part
        elif isinstance(value, ast.AST):
            yield value
