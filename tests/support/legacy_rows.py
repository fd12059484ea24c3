"""Rows as older schemas stored them (before 3 of PostgreSQL, 4 of SQLite and MySQL), and a check that a store reads them."""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.model.commit import COMMITTED, Conflict, ConflictReason
from holdfast.model.listing import InstanceQuery
from holdfast.model.stored import InstanceKey
from holdfast.ports import Store
from holdfast.testing.store_rows import commit_of, instance

Cell = str | int | bytes | None

_WORK: Mapping[str, Cell] = {
    "tenant": "", "id": "w", "queue": "default", "due": 0, "urgency": 0, "fair_rank": 7, "kind": "start",
    "instance_id": None, "bookmark_seq": None, "content": "c", "attempts": 0, "created": 1, "payload": b"\x00work",
}  # fmt: skip
_SEGMENT: Mapping[str, Cell] = {
    "tenant": "", "instance_id": "i", "version": 1, "burst_id": "b1", "first_entry": 0, "entries": 2, "written": 5,
    "data": b"\x00one",
}  # fmt: skip
ROWS: tuple[tuple[str, Mapping[str, Cell]], ...] = (
    ("hf_instance", {
        "tenant": "", "id": "i", "version": 2, "burst_id": "b2", "status": "suspended", "content": "c",
        "definition_id": "d", "definition_version": 1, "correlation_id": "order 7", "name": None, "parent_id": None,
        "is_system": 0, "incidents": 0, "created": 1, "updated": 9, "finished": None, "state": b"\x00asleep",
    }),
    ("hf_journal", _SEGMENT),
    ("hf_journal", {**_SEGMENT, "version": 2, "burst_id": "b2", "first_entry": 2, "data": b"\x00two"}),
    ("hf_work", _WORK),
    ("hf_dead_letter", {**_WORK, "id": "dead", "reason": "why", "died": 8, "error": b"\x00how"}),
)  # fmt: skip


def inserts(quoted: str) -> list[str]:
    """As statements; `quoted` writes bytes, from their hexadecimal digits."""

    def literal(cell: Cell) -> str:
        if cell is None:
            return "null"
        if isinstance(cell, bytes):
            return quoted.format(cell.hex())
        return f"'{cell}'" if isinstance(cell, str) else str(cell)

    return [
        f"insert into {table} ({', '.join(row)}) values ({', '.join(map(literal, row.values()))})"
        for table, row in ROWS
    ]


async def check(store: Store) -> None:
    """Everything is read, listed and claimed, and goes on."""
    key = InstanceKey("", "i")
    found = (await store.load([key])).instances[key]
    assert (found.version, found.state, found.correlation_id) == (2, b"asleep", "order 7")
    segments = await store.read_journal("", "i")
    assert [(row.version, row.burst_id, row.first, row.data) for row in segments] == [
        (1, "b1", 0, b"one"),
        (2, "b2", 2, b"two"),
    ]
    assert [row.id for row in (await store.search(InstanceQuery())).items] == ["i"]
    async with store.claim(["default"], 10) as claim:
        assert [(row.id, row.payload) for row in claim.rows] == [("w", b"work")]
    assert [(row.work.id, row.work.payload, row.error) for row in await store.list_dead_letters("")] == [
        ("dead", b"work", b"how")
    ]
    third = commit_of(instance("i", 3))
    again = commit_of(instance("i", burst_id="b1"))
    assert list(await store.commit([third])) == [COMMITTED]
    assert list(await store.commit([again])) == [COMMITTED]  # sent before, says its journal
    assert list(await store.commit([commit_of(instance("i"))])) == [
        Conflict(reason=ConflictReason.EXISTS, name="i", version=3)
    ]
    assert [row.burst_id for row in await store.read_journal("", "i")] == ["b1", "b2", third.burst_id]
