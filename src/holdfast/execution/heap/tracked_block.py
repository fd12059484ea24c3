"""Tracked block: a large list or dict whose live value stays in memory between commits, with a log of what was touched.

Code that runs in a burst reports each item that it can reach (`execution.heap.heap_book`). The commit packs only those
items again. After the commit they are replaced by copies, so that nothing outside the block can hold an object in it:
values cross a commit by value (rule M17), also if the block was not read from the store.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from msgspec.msgpack import Ext

from holdfast.execution.heap.item_codec import CELLS, NO_LINKS, TEXT, ItemCodec, NotTracked, pack_key
from holdfast.execution.heap.paged_block import ChangeLog, paged_reference
from holdfast.execution.page_tree import LEAF_BYTES, Leaf, PageTree
from holdfast.model.values import SCALARS

LOG_BYTES_MAX = 512
"""Size of the changes that stay in the state and are written with each commit."""
_MISSING = (None, 0)
_KEYS: frozenset[type] = frozenset({str, int})

Way = tuple[int | str, ...]


class TrackedBlock:
    __slots__ = ("_after", "_dropped_keys", "_links_after", "_low", "addressed", "iterators", "kind", "length", "links", "log",
                 "places", "touched", "tree", "value", "whole")  # fmt: skip

    def __init__(
        self,
        kind: str,
        tree: PageTree,
        log: ChangeLog,
        value: Any,
        links: dict[Any, frozenset[int]] | None = None,
        cells: Collection[int] = (),
    ) -> None:
        """`links`: the cells that items link to. `cells`: the ids of all cells, except for the block of the cells."""
        self.kind = kind
        self.tree = tree
        self.log = log
        self.value = value
        """The live list or dict."""
        self.length = len(value)
        """Number of items at the last commit."""
        self.places: dict[int, Any] = {}
        """Index or key of each item that is neither a scalar nor a cell of another block, by id()."""
        self.iterators: dict[tuple[str, int], Iterator[Any]] = {}
        """Iterators of a dict that loops use, by kind and number of consumed items, from commit to commit."""
        self.links: dict[Any, frozenset[int]] = {} if links is None else links
        """Cells that items link to, by index or key."""
        pairs = value.items() if value.__class__ is dict else enumerate(value)
        if not SCALARS.issuperset(map(type, value.values() if value.__class__ is dict else value)):
            self.places = {
                id(item): key for key, item in pairs if item.__class__ not in SCALARS and id(item) not in cells
            }
        self.begin()

    def begin(self) -> None:
        """Forget the log of the last burst."""
        self.whole = False
        """Anything in it may have changed."""
        self.touched: dict[Any, tuple[bytes | None, int]] = {}
        """Packed item and id() before the burst, by index or key, for items that may have changed."""
        self.addressed: set[Any] = set()
        """Items that variables referred to when the burst began."""
        self._low: int | None = None
        """Items of a list from this index on may have changed."""
        self._dropped_keys: set[Any] = set()
        self._after: dict[Any, bytes] = {}
        self._links_after: dict[Any, frozenset[int]] = {}

    # -- log -----------------------------------------------------------------------------------------------------------

    def key_of(self, item: Any) -> Any:
        """Index or key of an item; None if the value is not an item."""
        key = self.places.get(id(item))
        if key is None or not self.has(key) or self.value[key] is not item:
            return None
        return key

    def has(self, key: Any) -> bool:
        return key in self.value if self.value.__class__ is dict else 0 <= key < len(self.value)

    def touch(self, key: Any, codec: ItemCodec) -> set[int]:
        """The item at this index or key may change. Returns the ids of the objects in it."""
        if self.whole or key in self.touched or (self._low is not None and key >= self._low):
            return set()
        if not self.has(key):
            self.touched[key] = _MISSING
            return set()
        item = self.value[key]
        try:
            packed, ids, _ = codec.pack(self.kind, item)
        except NotTracked:
            self.whole = True
            return set()
        self.touched[key] = packed, id(item)
        return ids

    def touch_key(self, key: Any, codec: ItemCodec, *, removes: bool = False) -> set[int]:
        """Code uses this index or key. Any other kind of key touches the whole block."""
        if self.whole:
            return set()
        if self.value.__class__ is dict:
            if key.__class__ not in _KEYS:
                self.whole = True
                return set()
            if removes:
                self._dropped_keys.add(key)
            return self.touch(key, codec)
        if key.__class__ is not int or removes:
            self.whole = True
            return set()
        return self.touch(key + len(self.value) if key < 0 else key, codec)

    def touch_tail(self, codec: ItemCodec, *, removes: bool = False) -> set[int]:
        """Code appends to the list, or removes the last item."""
        if self.value.__class__ is not list:
            self.whole = True
        if self.whole:
            return set()
        low = len(self.value) - (1 if removes and self.value else 0)
        ids = self.touch(low, codec) if low < len(self.value) else set()
        self._low = low if self._low is None else min(low, self._low)
        return ids

    # -- commit --------------------------------------------------------------------------------------------------------

    def keys_in_reach(self) -> Iterator[Any]:
        """Items that variables may refer to now."""
        yield from {*self.touched, *self.addressed, *self._tail()}

    def _tail(self) -> range:
        return range(0) if self._low is None else range(self._low, len(self.value))

    def packed_items(self, codec: ItemCodec) -> Iterator[tuple[Any, bytes, set[int]]]:
        """The touched items as they are now. Raises `NotTracked` if the value changed in another way."""
        is_dict = self.value.__class__ is dict
        news = gone = 0
        for key in self.touched if is_dict else {*self.touched, *self._tail()}:
            before = self.touched.get(key, _MISSING)[0]
            if not self.has(key):
                gone += before is not None
                continue
            news += before is None
            packed, ids, links = codec.pack(self.kind, self.value[key])
            self._after[key] = packed
            if links:
                self._links_after[key] = links
            yield key, packed, ids
        if is_dict and self.length + news - gone != len(self.value):
            raise NotTracked
        if not is_dict and len(self.value) != self.length and self._low is None:
            raise NotTracked

    def changed_keys(self) -> set[Any]:
        """Items that may have changed, or are gone."""
        return {*self.touched, *self._tail()}

    def has_other_keys(self) -> bool:
        """Whether the burst added or removed keys of a dict."""
        return bool(self._dropped_keys) or any((at[0] is None) is self.has(key) for key, at in self.touched.items())

    def links_after(self, key: Any) -> frozenset[int]:
        """Cells that an item links to now."""
        if key in self._after or key in self.touched:
            return self._links_after.get(key, NO_LINKS)
        return self.links.get(key, NO_LINKS)

    def packed_after(self) -> Mapping[Any, bytes]:
        """The items that may have changed, packed by the commit."""
        return self._after

    def add(self, key: Any, item: Any) -> None:
        """Add an item to a dict."""
        self.touched[key] = _MISSING
        self.value[key] = item
        self.places[id(item)] = key

    def remove(self, key: Any, codec: ItemCodec) -> None:
        """Remove an item from a dict after the items were packed."""
        self.touch(key, codec)
        self.places.pop(id(self.value.pop(key)), None)
        self._after.pop(key, None)

    def write(self, codec: ItemCodec) -> None:
        """Add the changes of the burst to the log, and the log to the tree if it is too long."""
        if self.value.__class__ is dict:
            self._log_dict()
        else:
            self._log_list()
        self.length = len(self.value)
        if self.log.size > LOG_BYTES_MAX:
            self._flush(codec)

    def reference(self) -> Ext:
        return paged_reference(self.tree, self.log, is_dict=self.value.__class__ is dict)

    def replace_touched(self, codec: ItemCodec) -> None:
        """After the commit: replace the touched items by copies."""
        for _, old in self.touched.values():
            self.places.pop(old, None)
        for key, packed in self._after.items():
            item = self.value[key]
            self.places.pop(id(item), None)
            if item.__class__ not in SCALARS:
                copy = self.value[key] = codec.unpack(self.kind, packed)
                if self.kind == CELLS or codec.cells.number_of(copy) is None:
                    self.places[id(copy)] = key
        self.begin()

    def _log_list(self) -> None:
        log, count = self.log, len(self.value)
        for key, packed in sorted(self._after.items()):
            if packed != self.touched.get(key, _MISSING)[0]:
                log.set[key] = packed
        kept = self.tree.count if log.cut < 0 else log.cut
        if count < kept:
            log.cut = kept = count
        elif self._low is not None and self._low < kept:
            # Items were removed and added again: the log has them all.
            log.cut = kept = min(self._low, count)
            log.set.update((key, self._after[key]) for key in range(kept, count))
        log.set = {key: packed for key, packed in sorted(log.set.items()) if key < count}

    def _log_dict(self) -> None:
        log, known = self.log, self.tree.leaf_of
        for key, (before, _) in self.touched.items():
            packed = self._after.get(key)
            again = key in self._dropped_keys and packed is not None
            if packed is None or again:
                log.set.pop(key, None)
                if key in known:
                    log.removed.add(key)
            if packed is not None and (again or packed != before):
                log.set[key] = packed
        ends = [key for key in log.set if key not in known or key in log.removed]
        if len(ends) > 1:
            order = _last_keys(self.value, len(ends))
            if set(order) != set(ends):
                raise NotTracked
            for key in order:  # in the order of the dict
                log.set[key] = log.set.pop(key)
        elif ends and next(reversed(self.value)) != ends[0]:
            raise NotTracked

    # -- tree ----------------------------------------------------------------------------------------------------------

    def _flush(self, codec: ItemCodec) -> None:
        tree, log = self.tree, self.log
        last = tree.leaves[-1]
        if self.value.__class__ is dict:
            ends = [key for key in log.set if key not in tree.leaf_of or key in log.removed]
            places = {tree.leaf_of[key].place for key in (*log.set, *log.removed) if key in tree.leaf_of}
            gone = set(log.removed)

            def entries_of(leaf: Leaf) -> tuple[list[bytes], list[Any] | None]:
                assert leaf.keys is not None
                keys = [key for key in leaf.keys if key not in gone]
                if leaf is last:
                    keys += ends
                return [pack_key(key) + codec.pack(self.kind, self.value[key])[0] for key in keys], keys

            for key in gone:
                if key in tree.leaf_of:
                    del tree.leaf_of[key]
            tree.rewrite(places | ({last.place} if ends else set()), entries_of)
        else:
            self._flush_list(codec, last)
        self.log = ChangeLog()

    def _flush_list(self, codec: ItemCodec, last: Leaf) -> None:
        tree, log, count = self.tree, self.log, len(self.value)
        stored = tree.count
        kept = stored if log.cut < 0 else log.cut
        places = {tree.leaf_at(key).place for key in log.set if key < kept}
        if kept < stored:
            places.update(range(tree.leaf_at(kept).place, len(tree.leaves)))
        if count > kept:
            places.add(last.place)
        starts = {place: tree.start_of(place) for place in places}

        def entries_of(leaf: Leaf) -> tuple[list[bytes], list[Any] | None]:
            start = starts[leaf.place]
            items = self.value[start : min(start + leaf.count, kept)] if start < kept else []
            if leaf is last:
                items += self.value[kept:]
            return [codec.pack(self.kind, item)[0] for item in items], None

        tree.rewrite(places, entries_of)

    @property
    def weight(self) -> int:
        """Approximate bytes in memory."""
        if self.kind == TEXT:
            return len(self.value[0])
        return 4 * LEAF_BYTES * len(self.tree.leaves)


def _last_keys(value: dict[Any, Any], count: int) -> list[Any]:
    backwards = reversed(value)
    return [next(backwards) for _ in range(min(count, len(value)))][::-1]
