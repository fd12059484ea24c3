"""Rows of instances that this node committed or read last, so that the next job need not load them.

The cache keeps encoded rows. A cached row may be out of date when another node has committed since; the version check of the
commit detects that. Of live objects it keeps only the large variables of functions (`HeapBook`): a burst takes them out,
because a segment that fails has changed them, and they come back only after the burst is committed.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence

from holdfast.errors import InstanceNotFound
from holdfast.execution.heap import HeapBook
from holdfast.execution.page_tree import pages_below
from holdfast.model.stored import InstanceKey, InstanceRow, ValueRow
from holdfast.ports import Store
from holdfast.runtime.commits.large_values import StateMoved, ValueCache, is_split, refers_to, roots_of

ROWS_MAX = 10_000
HEAPS_BYTES_MAX = 200_000_000
"""Approximate memory of large variables; one instance may exceed it."""


class InstanceCache:
    def __init__(self, store: Store) -> None:
        self._store = store
        self._rows: OrderedDict[InstanceKey, InstanceRow] = OrderedDict()
        self.get: Callable[[InstanceKey], InstanceRow | None] = self._rows.get
        """The cached row. The lookup of the dict itself: every job calls it."""
        self._values = ValueCache()
        self._heaps: OrderedDict[InstanceKey, tuple[int, int, HeapBook]] = OrderedDict()
        """Version, weight and large variables."""
        self._weight = 0

    # -- cached rows ---------------------------------------------------------------------------------------------------

    def keep(self, key: InstanceKey, row: InstanceRow) -> None:
        """Keep a row that was committed here. Rows of instances at rest leave the cache."""
        rows = self._rows
        if row.finished is not None:
            if rows:
                rows.pop(key, None)
            if self._heaps:
                self.take_heap(key, row.version)
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

    # -- large variables -----------------------------------------------------------------------------------------------

    def keep_heap(self, key: InstanceKey, version: int, heap: HeapBook) -> None:
        """Keep the large variables of a committed version. Nothing else may refer to them any more."""
        heaps = self._heaps
        self.take_heap(key, version)
        weight = heap.weight
        heaps[key] = version, weight, heap
        self._weight += weight
        while self._weight > HEAPS_BYTES_MAX and len(heaps) > 1:
            _, (_, old, _) = heaps.popitem(last=False)
            self._weight -= old

    def take_heap(self, key: InstanceKey, version: int) -> HeapBook | None:
        """Take the large variables of this version out of the cache; None if they are of another version."""
        found = self._heaps.pop(key, None)
        if found is None:
            return None
        kept, weight, heap = found
        self._weight -= weight
        return heap if kept == version else None

    # -- stored rows ---------------------------------------------------------------------------------------------------

    async def row(self, key: InstanceKey) -> InstanceRow:
        """The row as it is stored, never a cached one: another node may have committed since."""
        found = (await self._store.load([key])).instances.get(key)
        if found is None:
            raise InstanceNotFound(key.id)
        return found

    async def state(self, key: InstanceKey, *, pages: bool = True) -> tuple[InstanceRow, Mapping[str, bytes]]:
        """The stored row and the large values that its state refers to, both of the same version.

        `pages`: with the pages of large variables.
        """
        while True:
            row = await self.row(key)
            try:
                return row, await self.values_of(key, row, pages=pages)
            except StateMoved:
                if (await self.row(key)).version == row.version:
                    raise

    # -- large values --------------------------------------------------------------------------------------------------

    async def values_of(self, key: InstanceKey, row: InstanceRow, *, pages: bool = True) -> Mapping[str, bytes]:
        """The large values that a state refers to. Values are immutable, so cached ones are always right.

        `pages`: with the pages of large variables, level by level.
        """
        if not is_split(row.state):
            return {}
        roots = dict.fromkeys(roots_of(row.state)) if pages else {}
        found = dict(await self._values_by_ref(key, (*refers_to(row.state), *(ref for _, ref in roots))))
        while roots:
            roots = dict.fromkeys(
                (height - 1, ref) for height, top in roots if height for ref in pages_below(found[top])
            )
            found.update(await self._values_by_ref(key, [ref for _, ref in roots]))
        return found

    async def _values_by_ref(self, key: InstanceKey, refs: Sequence[str]) -> Mapping[str, bytes]:
        if not refs:
            return {}
        found = {ref: data for ref in refs if (data := self._values.get(key, ref)) is not None}
        missing = [ref for ref in refs if ref not in found]
        if missing:
            for ref, data in (await self._store.load_values(key.tenant, key.id, missing)).items():
                found[ref] = data
                self._values.put(key, ref, data)
        if not found.keys() >= set(refs):
            raise StateMoved(key.id)
        return found

    def keep_values(self, rows: Sequence[ValueRow]) -> None:
        for row in rows:
            self._values.put(InstanceKey(row.tenant, row.instance_id), row.ref, row.data)
