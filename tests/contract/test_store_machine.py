"""Random histories: SQLite returns the same results as the memory store."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from holdfast.persistence.memory import MemoryStore
from holdfast.persistence.sql.sqlite import SqliteStore
from holdfast.ports import Store
from holdfast.testing.store_machine import compare


class OneFileEach(SqliteStore):
    """A store on a new file, which is deleted with the store."""

    def __init__(self) -> None:
        self._folder = TemporaryDirectory()
        super().__init__(Path(self._folder.name) / "holdfast.db")

    async def close(self) -> None:
        await super().close()
        self._folder.cleanup()


async def _sqlite() -> Store:
    store = OneFileEach()
    await store.open()
    return store


async def _memory() -> Store:
    return MemoryStore()


def test_sqlite_answers_as_memory_does() -> None:
    compare(_sqlite, examples=15)


def test_the_machine_agrees_with_itself() -> None:
    compare(_memory, examples=10)
