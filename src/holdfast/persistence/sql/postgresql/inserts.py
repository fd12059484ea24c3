"""Rows that may be there already, and which of them were new.

Nearly always all of them are: they are sent as if they were, which costs a third less than asking for each. Where one is not,
the database refuses them all, and they are sent again by a statement that passes over what is there.
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
    """Of tables whose key is (tenant, id). False for a row that is there, or that is in `rows` twice, from then on."""

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
