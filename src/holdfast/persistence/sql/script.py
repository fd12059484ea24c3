"""SQL without I/O. A script is a generator that yields statements and is sent their rows; it returns its result.

So each question to a database is written once, in a straight line, and a driver runs it where its database wants it:
in a thread (SQLite), or awaiting a connection (PostgreSQL, MySQL). A script runs in one transaction; it sees `?` as
placeholder and never counts changed rows, which databases count differently.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, TypeVar

T = TypeVar("T")
K = TypeVar("K")

Value = str | int | bytes | None
Rows = Sequence[Sequence[Any]]

CHUNK = 500
"""How many values one IN list holds: below every database's limit of parameters."""


class Statement(NamedTuple):
    sql: str
    values: Sequence[Any]
    """Parameters; with `many`, a list of them."""
    many: bool = False
    """The same statement for each; gives no rows."""


Script = Generator[Statement, Rows, T]


def ask(sql: str, *values: Value) -> Statement:
    return Statement(sql, values)


def each(sql: str, rows: Sequence[Sequence[Value]]) -> Statement:
    return Statement(sql, rows, many=True)


def marks(count: int) -> str:
    """`?, ?, ?`"""
    return ", ".join("?" * count)


def chunks(values: Sequence[T], size: int = CHUNK) -> Iterator[Sequence[T]]:
    for start in range(0, len(values), size):
        yield values[start : start + size]


def grouped(items: Iterable[T], key: Callable[[T], K]) -> dict[K, list[T]]:
    """Items by key, in the order in which they came."""
    groups: dict[K, list[T]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups


def all_of(sql: str, before: Sequence[Value], values: Sequence[Value]) -> Script[Rows]:
    """Ask for any number of values: `sql` holds `{marks}` where the IN list goes."""
    found: list[Sequence[Any]] = []
    for part in chunks(values):
        found += yield ask(sql.format(marks=marks(len(part))), *before, *part)
    return found
