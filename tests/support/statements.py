"""Counts the statements that PostgreSQL stores of this process send, by the query log of the driver."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from holdfast.persistence.sql.postgresql import driver


class Statements:
    def __init__(self) -> None:
        self.texts: list[str] = []
        self.connections = 0
        self.added = asyncio.Event()
        """Set with every statement."""

    def __len__(self) -> int:
        return len(self.texts)

    def clear(self) -> None:
        self.texts.clear()

    def add(self, logged: Any) -> None:
        self.texts.append(" ".join(logged.query.split()))
        self.added.set()

    @property
    def by_text(self) -> Counter[str]:
        return Counter(text[:100] for text in self.texts)


@contextmanager
def counted_statements() -> Iterator[Statements]:
    """Every statement of connections that are opened inside the block, `begin` and `commit` too."""
    found, namespace = Statements(), vars(driver)
    connect = namespace["connect"]

    async def counted(*arguments: Any, **options: Any) -> Any:
        connection: Any = await connect(*arguments, **options)
        connection.add_query_logger(found.add)
        found.connections += 1
        return connection

    namespace["connect"] = counted
    try:
        yield found
    finally:
        namespace["connect"] = connect
