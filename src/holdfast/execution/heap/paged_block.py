"""Stored form of a large block: the root of its page tree, and the changes since the tree was last written."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from typing import Any

import msgspec
from msgspec import Raw
from msgspec.msgpack import Ext

from holdfast.execution.page_tree import PageTree, Root

PAGED = 3
"""MessagePack extension code of a block in pages, beside the codes of `execution.lazy_values`."""

_pack = msgspec.msgpack.Encoder().encode
_unpack = msgspec.msgpack.Decoder().decode


class ChangeLog:
    """Changes of a container that its tree does not contain yet. They stay in the state, so they are few."""

    __slots__ = ("cut", "removed", "set")

    def __init__(self, cut: int = -1, changed: dict[Any, bytes] | None = None, removed: set[Any] | None = None) -> None:
        self.cut = cut
        """Number of items of the tree that a list still has; -1: all."""
        self.set: dict[Any, bytes] = {} if changed is None else changed
        """Packed items by index or key. Keys that the tree does not have are in the order of the dict."""
        self.removed: set[Any] = set() if removed is None else removed
        """Keys of the tree that are gone, or that were inserted again at the end."""

    @property
    def size(self) -> int:
        return sum(map(len, self.set.values())) + 8 * len(self.set) + 16 * len(self.removed)

    def __bool__(self) -> bool:
        return bool(self.set or self.removed) or self.cut >= 0

    def apply(self, content: Any) -> None:
        """Apply the changes to the content of the tree."""
        if content.__class__ is dict:
            for key in self.removed:
                content.pop(key, None)
        elif self.cut >= 0:
            del content[self.cut :]
        for key, packed in self.set.items():
            if content.__class__ is dict or key < len(content):
                content[key] = _unpack(packed)
            else:
                content.append(_unpack(packed))


class PagedBlock:
    """A block as it is stored. Its pages are read when its content is."""

    __slots__ = ("_stored", "is_dict", "log", "root")

    def __init__(self, data: bytes, stored: Mapping[str, bytes]) -> None:
        is_dict, height, top, cut, changed, removed = _unpack(data)
        self.is_dict: bool = is_dict
        self.root: Root = (height, top.hex())
        pairs = iter(changed)
        self.log = ChangeLog(cut, {key: _pack(item) for key, item in zip(pairs, pairs, strict=True)}, set(removed))
        self._stored = stored

    def load(self) -> tuple[PageTree, Any]:
        """The tree, and the content of the block."""
        tree, entries = PageTree.load(self.root, self._stored, is_dict=self.is_dict)
        items = chain.from_iterable(entries)
        content: Any = dict(zip(items, items, strict=True)) if self.is_dict else list(items)
        self.log.apply(content)
        return tree, content


def paged_reference(tree: PageTree, log: ChangeLog, *, is_dict: bool) -> Ext:
    height, top = tree.root
    changed = [part for key, packed in log.set.items() for part in (key, Raw(packed))]
    return Ext(PAGED, _pack((is_dict, height, bytes.fromhex(top), log.cut, changed, list(log.removed))))
