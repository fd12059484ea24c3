"""Rows of instances that this node committed or read last, so that the next job need not load them.

The cache keeps encoded rows, never live objects: a segment that fails has changed its live object. A cached row may be out
of date when another node has committed since; the version check of the commit detects that.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence

from holdfast.errors import InstanceNotFound
from holdfast.model.stored import InstanceKey, InstanceRow, ValueRow
from holdfast.ports import Store
from holdfast.runtime.commits.large_values import StateMoved, ValueCache, refers_to

ROWS_MAX = 10_000


class InstanceCache:
    def __init__(self, store: Store) -> None:
        self._store = store
        self._rows: OrderedDict[InstanceKey, InstanceRow] = OrderedDict()
        self.get: Callable[[InstanceKey], InstanceRow | None] = self._rows.get
        """The cached row. The lookup of the dict itself: every job calls it."""
        self._values = ValueCache()

    # -- cached rows ---------------------------------------------------------------------------------------------------

    def keep(self, key: InstanceKey, row: InstanceRow) -> None:
        """Keep a row that was committed here. Rows of instances at rest leave the cache."""
        rows = self._rows
        if row.finished is not None:
            if rows:
                rows.pop(key, None)
            return
        rows[key] = row
        rows.move_to_end(key)
        if len(rows) > ROWS_MAX:
            rows.popitem(last=False)

    def keep_read(self, key: InstanceKey, row: InstanceRow) -> None:
        """Keep a row that was read, unless a later version is cached."""
        known = self._rows.get(key)
        if known is None or known.version < row.version:
            self.keep(key, row)

    def forget(self, key: InstanceKey) -> None:
        self._rows.pop(key, None)

    # -- stored rows ---------------------------------------------------------------------------------------------------

    async def row(self, key: InstanceKey) -> InstanceRow:
        """The row as it is stored, never a cached one: another node may have committed since."""
        found = (await self._store.load([key])).instances.get(key)
        if found is None:
            raise InstanceNotFound(key.id)
        return found

    async def state(self, key: InstanceKey) -> tuple[InstanceRow, Mapping[str, bytes]]:
        """The stored row and the large values that its state refers to, both of the same version."""
        while True:
            row = await self.row(key)
            try:
                return row, await self.values_of(key, row)
            except StateMoved:
                if (await self.row(key)).version == row.version:
                    raise

    # -- large values --------------------------------------------------------------------------------------------------

    async def values_of(self, key: InstanceKey, row: InstanceRow) -> Mapping[str, bytes]:
        """The large values that a state refers to. Values are immutable, so cached ones are always right."""
        refs = refers_to(row.state)
        if not refs:
            return {}
        found = {ref: data for ref in refs if (data := self._values.get(key, ref)) is not None}
        missing = [ref for ref in refs if ref not in found]
        if missing:
            for ref, data in (await self._store.load_values(key.tenant, key.id, missing)).items():
                found[ref] = data
                self._values.put(key, ref, data)
        if len(found) < len(refs):
            raise StateMoved(key.id)
        return found

    def keep_values(self, rows: Sequence[ValueRow]) -> None:
        for row in rows:
            self._values.put(InstanceKey(row.tenant, row.instance_id), row.ref, row.data)
