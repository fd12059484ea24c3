"""Scripts: SQL without I/O. A script is a generator that yields statements, receives their rows and returns its result.

A query is written once for all databases, and each driver runs it in its own way: in a thread (SQLite), or awaiting a
connection (PostgreSQL, MySQL). A script runs in one transaction. It uses `?` as placeholder and never reads the number of
changed rows, because databases count them differently.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, TypeVar

T = TypeVar("T")
K = TypeVar("K")

Value = str | int | bytes | None
Rows = Sequence[Sequence[Any]]

CHUNK = 500
"""Values in one IN list: below the parameter limit of every database."""


class Statement(NamedTuple):
    sql: str
    values: Sequence[Any]
    """Parameters; with `many`, one sequence of parameters per execution."""
    many: bool = False
    """Execute the statement once per sequence of parameters. Returns no rows."""


Script = Generator[Statement, Rows, T]


def execute(sql: str, *values: Value) -> Statement:
    return Statement(sql, values)


def execute_many(sql: str, rows: Sequence[Sequence[Value]]) -> Statement:
    return Statement(sql, rows, many=True)


def marks(count: int) -> str:
    """`?, ?, ?`"""
    return ", ".join("?" * count)


def chunks(values: Sequence[T], size: int = CHUNK) -> Iterator[Sequence[T]]:
    for start in range(0, len(values), size):
        yield values[start : start + size]


def grouped(items: Iterable[T], key: Callable[[T], K]) -> dict[K, list[T]]:
    """Items by key, in their original order."""
    groups: dict[K, list[T]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups


def all_of(sql: str, before: Sequence[Value], values: Sequence[Value]) -> Script[Rows]:
    """Query any number of values in chunks. `sql` contains `{marks}` in place of the IN list."""
    found: list[Sequence[Any]] = []
    for part in chunks(values):
        found += yield execute(sql.format(marks=marks(len(part))), *before, *part)
    return found
