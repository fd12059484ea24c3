"""Rendering of statements with `?` to SQL text. Strings are sent as bytes, because columns hold bytes (M16).

Statements with many rows are joined, up to the size of a packet: rows of an INSERT into one statement, other statements one
after the other. Rows are inserted in the order of their keys, so that two batches cannot deadlock.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import TypeVar

from holdfast.persistence.sql.mysql.errors import row_too_large
from holdfast.persistence.sql.script import Rows, Script, Statement, Value

T = TypeVar("T")

TEXT_MAX = 4_000_000
"""Largest text of joined rows, in characters."""

Quote = Callable[[bytes], str]

_INSERT = re.compile(r"(insert into .+ values )\(([?, ]+)\)(.*)", re.DOTALL)
_KEY_COLUMNS = 3
"""Number of key columns that matter for the lock order."""


@lru_cache(maxsize=512)
def _parts(sql: str) -> tuple[str, ...]:
    return tuple(sql.split("?"))


@lru_cache(maxsize=128)
def _insert(sql: str) -> tuple[str, str] | None:
    match = _INSERT.fullmatch(sql)
    return None if match is None else (match[1], match[3])


def literal(value: Value, quote: Quote) -> str:
    if value is None:
        return "null"
    if isinstance(value, int):
        return str(int(value))
    return quote(value.encode() if isinstance(value, str) else bytes(value))


def text_of(sql: str, values: Sequence[Value], quote: Quote) -> str:
    parts = _parts(sql)
    if len(parts) != len(values) + 1:
        raise ValueError(f"{len(values)} values for {len(parts) - 1} places in: {sql}")
    pieces = [parts[0]]
    for value, part in zip(values, parts[1:], strict=True):
        pieces += (literal(value, quote), part)
    return "".join(pieces)


def texts_of(statement: Statement, quote: Quote, packet: int) -> Iterator[str]:
    """The texts to send for a statement, each within the size of a packet."""
    sql, values, many = statement
    if not many:
        text = text_of(sql, values, quote)
        _check(len(text), packet)
        yield text
        return
    insert = _insert(sql)
    if insert is None:
        yield from _joined("", [text_of(sql, row, quote) for row in values], ";", "", packet)
        return
    head, tail = insert
    rows = values if tail.strip() else sorted(values, key=lambda row: row[:_KEY_COLUMNS])
    places = [f"({','.join([literal(value, quote) for value in row])})" for row in rows]
    yield from _joined(head, places, ",", tail, packet)


def _joined(head: str, pieces: Sequence[str], between: str, tail: str, packet: int) -> Iterator[str]:
    limit = min(TEXT_MAX, packet)
    around = len(head) + len(tail)
    waiting: list[str] = []
    size = around
    for piece in pieces:
        _check(around + len(piece), packet)
        if waiting and size + len(piece) > limit:
            yield head + between.join(waiting) + tail
            waiting, size = [], around
        waiting.append(piece)
        size += len(piece) + 1
    if waiting:
        yield head + between.join(waiting) + tail


def _check(size: int, packet: int) -> None:
    if size > packet:
        raise row_too_large(size, packet)


def rewritten(script: Script[T], change: Callable[[str], str]) -> Script[T]:
    """The script with its SQL changed."""
    rows: Rows | None = None
    try:
        while True:
            statement = next(script) if rows is None else script.send(rows)
            rows = yield statement._replace(sql=change(statement.sql))
    except StopIteration as done:
        result: T = done.value
        return result
