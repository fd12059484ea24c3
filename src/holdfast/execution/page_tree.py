"""Page tree: a long list or dict in stored pages of bounded size, so that a change writes one page and the path to it.

Leaves hold the entries in order: the items of a list, or alternating keys and values of a dict. Inner pages hold the
references of up to `FANOUT` pages below. Pages are immutable values named by their content. The last changes stay
outside the tree, in the state itself (`ChangeLog`), because a page per change would cost a page each time.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from itertools import accumulate
from typing import Any

import msgspec

LEAF_BYTES = 4096
"""Size at which a leaf is closed when the tree is built. A leaf that grows beyond twice this size is split."""
LEAF_ITEMS = 256
"""Number of entries at which a leaf is closed: a change packs all entries of its leaf again."""
FANOUT = 64

_pack = msgspec.msgpack.Encoder().encode
_unpack = msgspec.msgpack.Decoder().decode
_PERSON = b"holdfast-page"
"""Pages and other values have different references even if their bytes are equal: each is dropped on its own."""

Root = tuple[int, str]
"""Levels above the leaves, and the reference of the top page."""


def page_ref(packed: bytes) -> str:
    return blake2b(packed, digest_size=16, person=_PERSON).hexdigest()


def pages_below(packed: bytes) -> list[str]:
    """References in an inner page."""
    return [ref.hex() for ref in _unpack(packed)]


def packed_array(entries: Sequence[bytes]) -> bytes:
    """MessagePack array of packed entries."""
    count = len(entries)
    if count < 16:
        head = bytes([0x90 | count])
    elif count < 1 << 16:
        head = b"\xdc" + count.to_bytes(2, "big")
    else:
        head = b"\xdd" + count.to_bytes(4, "big")
    return head + b"".join(entries)


class Leaf:
    __slots__ = ("count", "keys", "place", "ref")

    def __init__(self, ref: str, count: int, keys: list[Any] | None) -> None:
        self.ref = ref
        self.count = count
        """Number of items."""
        self.keys = keys
        """Keys of a dict, in order; None for a list."""
        self.place = 0


class PageTree:
    """Leaves of one container, and the references of the pages above them.

    `added` and `dropped` collect the pages that the commit writes and deletes. A page may occur more than once in a
    tree, so the owner of the tree counts them.
    """

    __slots__ = ("_starts", "added", "count", "dropped", "leaf_of", "leaves", "upper")

    def __init__(self, leaves: list[Leaf], upper: list[list[str]]) -> None:
        self.leaves = leaves
        self.upper = upper
        """References per level above the leaves; the last level has one. Empty if there is one leaf."""
        self.added: list[tuple[str, bytes]] = []
        self.dropped: list[str] = []
        self.leaf_of: dict[Any, Leaf] = {}
        """Leaf of each key of a dict."""
        self.count = sum(leaf.count for leaf in leaves)
        """Number of items."""
        self._starts: list[int] | None = None
        for place, leaf in enumerate(leaves):
            leaf.place = place
            if leaf.keys is not None:
                self.leaf_of.update(dict.fromkeys(leaf.keys, leaf))

    # -- create --------------------------------------------------------------------------------------------------------

    @classmethod
    def build(cls, entries: Sequence[bytes], keys: Sequence[Any] | None) -> PageTree:
        """`entries` are the packed items; for a dict each is a packed key followed by its packed value."""
        tree = cls([], [])
        tree._place(0, 0, list(tree._pages_of(entries, keys)))
        tree._write_upper(None)
        return tree

    @classmethod
    def load(cls, root: Root, stored: Mapping[str, bytes], *, is_dict: bool) -> tuple[PageTree, list[list[Any]]]:
        """The tree, and the entries of each leaf."""
        height, top = root
        levels = [[top]]
        for _ in range(height):
            levels.append([ref for page in levels[-1] for ref in pages_below(stored[page])])
        refs = levels.pop()
        entries = [_unpack(stored[ref]) for ref in refs]
        leaves = [
            Leaf(ref, len(found) // 2, found[::2]) if is_dict else Leaf(ref, len(found), None)
            for ref, found in zip(refs, entries, strict=True)
        ]
        return cls(leaves, levels[::-1]), entries

    # -- read ----------------------------------------------------------------------------------------------------------

    @property
    def root(self) -> Root:
        return (len(self.upper), self.upper[-1][0]) if self.upper else (0, self.leaves[0].ref)

    def refs(self) -> Iterator[str]:
        """References of all pages, as often as they occur."""
        for leaf in self.leaves:
            yield leaf.ref
        for level in self.upper:
            yield from level

    def start_of(self, place: int) -> int:
        """Index of the first item of a leaf."""
        if self._starts is None:
            self._starts = [0, *accumulate(leaf.count for leaf in self.leaves)]
        return self._starts[place]

    def leaf_at(self, index: int) -> Leaf:
        self.start_of(0)
        assert self._starts is not None
        return self.leaves[min(bisect_right(self._starts, index) - 1, len(self.leaves) - 1)]

    # -- change --------------------------------------------------------------------------------------------------------

    def rewrite(
        self, places: Iterable[int], entries_of: Callable[[Leaf], tuple[list[bytes], list[Any] | None]]
    ) -> None:
        """Write these leaves again, with the entries (and keys) that they have now. A leaf without entries is removed.

        The last leaf is closed at `LEAF_BYTES`, since it grows with each append.
        """
        shifted: int | None = None
        dirty: set[int] = set()
        for place in sorted(places, reverse=True):
            leaf = self.leaves[place]
            entries, keys = entries_of(leaf)
            is_last = place == len(self.leaves) - 1
            pages = list(self._pages_of(entries, keys, LEAF_BYTES if is_last else 2 * LEAF_BYTES))
            if not pages and len(self.leaves) == 1:
                pages = [self._page([], [] if keys is not None else None)]
            self._place(place, 1, pages)
            if len(pages) == 1:
                dirty.add(place)
            else:
                shifted = place
        # A leaf that was split or removed moves all leaves after it to other places in the pages above.
        first = min(dirty | {shifted}) - 1 if shifted is not None else 0
        self._write_upper(dirty if shifted is None else set(range(max(first, 0), len(self.leaves))))

    def _pages_of(
        self, entries: Sequence[bytes], keys: Sequence[Any] | None, at_once: int = LEAF_BYTES
    ) -> Iterator[Leaf]:
        """Leaves for the entries: one if they fit into `at_once` bytes, else leaves of `LEAF_BYTES`."""
        limit = at_once if sum(map(len, entries)) <= at_once else LEAF_BYTES
        begin = size = 0
        for at, entry in enumerate(entries):
            if size and (size + len(entry) > limit or at - begin >= LEAF_ITEMS):
                yield self._page(entries[begin:at], None if keys is None else list(keys[begin:at]))
                begin, size = at, 0
            size += len(entry)
        if begin < len(entries):
            yield self._page(entries[begin:], None if keys is None else list(keys[begin:]))

    def _page(self, entries: Sequence[bytes], keys: list[Any] | None) -> Leaf:
        packed = packed_array(entries) if keys is None else _packed_pairs(entries)
        ref = page_ref(packed)
        self.added.append((ref, packed))
        return Leaf(ref, len(entries), keys)

    def _place(self, place: int, replaced: int, pages: list[Leaf]) -> None:
        """Replace leaves, and number the leaves after them."""
        old = self.leaves[place : place + replaced]
        self.dropped += [leaf.ref for leaf in old]
        self.count += sum(leaf.count for leaf in pages) - sum(leaf.count for leaf in old)
        self.leaves[place : place + replaced] = pages
        self._starts = None
        for leaf in pages:
            if leaf.keys is not None:
                self.leaf_of.update(dict.fromkeys(leaf.keys, leaf))
        moved = self.leaves[place:] if len(pages) != replaced else pages
        for number, leaf in enumerate(moved, place):
            leaf.place = number

    def _write_upper(self, dirty: set[int] | None) -> None:
        """Write the inner pages above the dirty leaves; None: above all of them."""
        below: list[str] = []
        size, level = len(self.leaves), 0
        while size > 1:
            if level == len(self.upper):
                self.upper.append([])
                dirty = None
            known = self.upper[level]
            count = -(-size // FANOUT)
            changed = set(range(count)) if dirty is None else {place // FANOUT for place in dirty if place < size}
            changed.update(range(len(known), count))
            self.dropped += known[count:]
            del known[count:]
            for place in sorted(changed):
                part = slice(place * FANOUT, (place + 1) * FANOUT)
                refs = below[part] if level else [leaf.ref for leaf in self.leaves[part]]
                packed = _pack(list(map(bytes.fromhex, refs)))
                ref = page_ref(packed)
                if place < len(known):
                    if known[place] == ref:
                        continue
                    self.dropped.append(known[place])
                    known[place] = ref
                else:
                    known.append(ref)
                self.added.append((ref, packed))
            below, size, dirty, level = known, len(known), changed, level + 1
        for unused in self.upper[level:]:
            self.dropped += unused
        del self.upper[level:]


def _packed_pairs(entries: Sequence[bytes]) -> bytes:
    """Leaf of a dict: an array of twice as many, because each entry is a key and a value."""
    count = 2 * len(entries)
    head = bytes([0x90 | count]) if count < 16 else b"\xdd" + count.to_bytes(4, "big")
    return head + b"".join(entries)
