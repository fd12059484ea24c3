"""Lazy loading of large values: a burst costs what it touches, not what its instance holds (rule H14).

A stored state refers to its large values. They load as `LazyValue`: packed bytes, until they are read. A scope with such
values is a `LazyScope`, a list that decodes an item when it is read by index, as expressions do. All other scopes
are plain lists and pay nothing. Values that were never read are written back as the same reference, without decoding.

A long list is stored in pages (`execution.pages`), and a loop reads one page at a time (`PagedItems`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any, SupportsIndex, cast

import msgspec
from msgspec.msgpack import Ext

from holdfast.execution.heap.paged_block import PAGED, PagedBlock
from holdfast.execution.pages import PAGE, pages_of, split_pages, unpack_value
from holdfast.execution.unreadable import unreadable
from holdfast.model import values
from holdfast.model.values import TypeRegistry
from holdfast.model.values.encoder import TAG

VALUE, RUNS = 1, 2
"""MessagePack extension codes of references. User data cannot contain them."""

_pack = msgspec.msgpack.Encoder().encode
_unpack = msgspec.msgpack.Decoder().decode
_PACKED_TAG = _pack(TAG)


# -- references --------------------------------------------------------------------------------------------------------


def reference(ref: str) -> Ext:
    return Ext(VALUE, ref.encode())


def references(refs: Iterable[str], rest: list[Any]) -> Ext:
    """Reference to the runs of a list, plus the items after them."""
    return Ext(RUNS, _pack((list(map(bytes.fromhex, refs)), rest)))


def _named(part: Ext) -> tuple[list[str], list[Any]]:
    """Values that a reference names, and the items it holds itself."""
    data = bytes(part.data)
    if part.code == VALUE:
        return [data.decode()], []
    refs, rest = _unpack(data)
    return list(map(bytes.hex, refs)), rest


def joined(part: Any, stored: Mapping[str, bytes]) -> Any:
    """Part of a state with its references resolved."""
    kind = part.__class__
    if kind is dict:
        return {name: joined(item, stored) for name, item in part.items()}
    if kind is list:
        return [joined(item, stored) for item in part]
    if kind is not Ext:
        return part
    if part.code == PAGED:
        return PagedBlock(bytes(part.data), stored)
    refs, rest = _named(part)
    if part.code == VALUE:
        return unpack_value(stored[refs[0]])
    return [*chain.from_iterable(unpack_value(stored[ref]) for ref in refs), *rest]


def _references(part: Any) -> Iterator[str]:
    kind = part.__class__
    if kind is Ext:
        yield from _named(part)[0]
    elif kind is dict or kind is list:
        for item in part.values() if kind is dict else part:
            yield from _references(item)


# -- lazy values -------------------------------------------------------------------------------------------------------


class LazyValue:
    """A stored value that is not decoded: a reference, or small data that contains references."""

    __slots__ = ("part", "stored")

    def __init__(self, part: Any, stored: Mapping[str, bytes]) -> None:
        self.part = part
        self.stored = stored
        """Packed values by reference."""

    def data(self) -> Any:
        """Value as JSON data."""
        return joined(self.part, self.stored)

    def read(self, types: TypeRegistry) -> Any:
        return self.data() if self._is_plain() else _decoded(self.data(), types)

    def _is_plain(self) -> bool:
        if self.part.__class__ is not Ext or _PACKED_TAG in bytes(self.part.data):
            return False
        return not any(_PACKED_TAG in packed for packed in self.stored.values())


def _decoded(data: Any, types: TypeRegistry) -> Any:
    """Raises `StateUnreadable`: a segment that reads such a value is discarded, and no activity faults."""
    try:
        return values.decode(data, types)
    except Exception as error:
        raise unreadable("", error) from error


def lazy_part(part: Any, stored: Mapping[str, bytes]) -> Any:
    """Wrap a part that contains references; return any other part unchanged."""
    refs = tuple(_references(part))
    return LazyValue(part, {ref: stored[ref] for ref in refs}) if refs else part


class LazyScope(list[Any]):
    """Scope that decodes lazy values on first access."""

    __slots__ = ("types",)

    def __init__(self, items: list[Any], types: TypeRegistry) -> None:
        super().__init__(items)
        self.types = types

    def __getitem__(self, index: SupportsIndex | slice) -> Any:
        found = super().__getitem__(index)
        if found.__class__ is LazyValue:
            found = found.read(self.types)
            self[index] = found
        return found


class PagedItems:
    """Items of a loop over a lazy list, read page by page. The loop owns the list, so it never changes."""

    __slots__ = ("_at", "_count", "_page", "_pages", "_types", "lazy")

    def __init__(self, lazy: LazyValue, pages: list[bytes], types: TypeRegistry) -> None:
        self.lazy = lazy
        self._pages = pages
        self._count = PAGE * (len(pages) - 1) + len(_unpack(pages[-1]))
        self._types = types
        self._at = -1
        self._page: list[Any] = []

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, index: int) -> Any:
        at, place = divmod(index, PAGE)
        if at != self._at:
            self._at, self._page = at, _decoded(_unpack(self._pages[at]), self._types)
        return self._page[place]


def loop_items(lazy: LazyValue, types: TypeRegistry) -> PagedItems | list[Any]:
    """Items for a loop: page by page if the list is stored in pages."""
    pages = _pages(lazy) if lazy.part.__class__ is Ext else None
    return cast("list[Any]", lazy.read(types)) if pages is None else PagedItems(lazy, pages, types)


def _pages(lazy: LazyValue) -> list[bytes] | None:
    refs, rest = _named(lazy.part)
    found: list[bytes] = []
    for ref in refs:
        pages = pages_of(lazy.stored[ref])
        if pages is None:
            return None
        found += pages
    return [*found, *split_pages(rest)]
