"""Inserts of rows that may be stored already, with the information which rows are new.

Nearly always all rows are new, so the first statement assumes it: this costs a third less than checking each row. If a row
is stored already, the database refuses all of them, and a second statement skips existing rows.
"""

# ruff: noqa: S608 - names and conditions in these texts are ours, every value is a parameter

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import lru_cache
from typing import Any

from holdfast.persistence.sql.postgresql.connection import Connection, is_there_already
from holdfast.persistence.sql.postgresql.statement import ROW_TYPE
from holdfast.persistence.sql.tables import Table

_PASSING_OVER = " on conflict do nothing returning tenant, id"


@lru_cache(maxsize=8)
def _insert(table: Table[Any], kind: str) -> str:
    return f"insert into {table.name} ({table.columns}) select {table.columns} from unnest($1::{ROW_TYPE}{kind}[])"


def insert_new(
    table: Table[Any], kind: str, rows: Sequence[tuple[Any, ...]]
) -> Callable[[Connection], Awaitable[list[bool]]]:
    """Insert into a table with the key (tenant, id). False for a row that is stored already or is a repetition in `rows`."""

    async def insert(connection: Connection) -> list[bool]:
        if not rows:
            return []
        text, numbered = _insert(table, kind), [(0, *row) for row in rows]
        try:
            await connection.execute(text, numbered)
        except Exception as error:
            if not is_there_already(error):
                raise
        else:
            return [True] * len(rows)
        written = await connection.fetch(text + _PASSING_OVER, numbered)
        fresh = {(row[0], row[1]) for row in written}
        answers = []
        for row in rows:
            answers.append((row[0], row[1]) in fresh)
            fresh.discard((row[0], row[1]))
        return answers

    return insert
