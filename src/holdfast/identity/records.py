"""Typed access to records of one kind: read, write with optimistic locking, list."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Generic, TypeVar

import msgspec

from holdfast.errors import AlreadyStored, StoreUnavailable
from holdfast.model.record_rows import RecordQuery, RecordRow
from holdfast.ports.store import RecordStore

T = TypeVar("T", bound=msgspec.Struct)

CONFLICT_RETRIES = 20
PAGE_SIZE = 500


class RecordTable(Generic[T]):
    """Records of one kind and one tenant."""

    def __init__(self, store: RecordStore, tenant: str, kind: str, item: type[T], now: Callable[[], datetime]) -> None:
        self._store = store
        self._tenant = tenant
        self._kind = kind
        self._now = now
        self._decoder = msgspec.json.Decoder(item)

    async def get(self, name: str) -> T | None:
        row = await self._row(name)
        return None if row is None else self._decoder.decode(row.payload)

    async def add(self, name: str, item: T, *, owner: str = "", due: datetime | None = None) -> None:
        """Insert a record. Of two concurrent inserts of one name, one raises `AlreadyStored`."""
        if not await self._store.put_record(self._new_row(name, item, owner=owner, due=due)):
            raise AlreadyStored(
                f"The {self._kind} '{name}' already exists. Choose another name, or change the existing one."
            )

    async def change(self, name: str, change: Callable[[T], T]) -> T | None:
        """Write the result of `change`, retrying on conflicts. None if the record does not exist."""
        for _ in range(CONFLICT_RETRIES):
            row = await self._row(name)
            if row is None:
                return None
            new = change(self._decoder.decode(row.payload))
            if await self._store.put_record(
                msgspec.structs.replace(
                    row, version=row.version + 1, updated=self._now(), payload=msgspec.json.encode(new)
                )
            ):
                return new
        raise StoreUnavailable(f"Too many concurrent updates to {self._kind} '{name}'. Try again.")

    async def change_or_add(self, name: str, change: Callable[[T | None], T], *, due: datetime | None = None) -> T:
        for _ in range(CONFLICT_RETRIES):
            row = await self._row(name)
            new = change(None if row is None else self._decoder.decode(row.payload))
            made = self._new_row(name, new, due=due)
            if row is not None:
                made = msgspec.structs.replace(made, version=row.version + 1, created=row.created, owner=row.owner)
            if await self._store.put_record(made):
                return new
        raise StoreUnavailable(f"Too many concurrent updates to {self._kind} '{name}'. Try again.")

    async def remove(self, name: str) -> bool:
        return await self._store.delete_record(self._tenant, self._kind, name)

    async def remove_of(self, owner: str) -> int:
        """Delete all records of this owner. Returns how many."""
        count = 0
        while rows := await self._rows(
            RecordQuery(tenant=self._tenant, kind=self._kind, owners=(owner,), limit=PAGE_SIZE)
        ):
            for row in rows:
                count += await self.remove(row.id)
        return count

    async def remove_due(self, before: datetime) -> int:
        """Delete the records whose due time is before that time. Returns how many."""
        count = 0
        query = RecordQuery(tenant=self._tenant, kind=self._kind, due_before=before, limit=PAGE_SIZE)
        while rows := await self._rows(query):
            for row in rows:
                count += await self.remove(row.id)
        return count

    async def all(self) -> list[T]:
        """Newest first."""
        found: list[T] = []
        after = ""
        while True:
            rows = await self._rows(RecordQuery(tenant=self._tenant, kind=self._kind, limit=PAGE_SIZE, after=after))
            found.extend(self._decoder.decode(row.payload) for row in rows)
            if len(rows) < PAGE_SIZE:
                return found
            after = rows[-1].cursor

    async def count(self) -> int:
        return await self._store.count_records(RecordQuery(tenant=self._tenant, kind=self._kind))

    async def _row(self, name: str) -> RecordRow | None:
        return await self._store.get_record(self._tenant, self._kind, name)

    async def _rows(self, query: RecordQuery) -> Sequence[RecordRow]:
        return await self._store.list_records(query)

    def _new_row(self, name: str, item: T, *, owner: str = "", due: datetime | None = None) -> RecordRow:
        now = self._now()
        return RecordRow(
            tenant=self._tenant,
            kind=self._kind,
            id=name,
            owner=owner,
            due=due,
            created=now,
            updated=now,
            payload=msgspec.json.encode(item),
        )
