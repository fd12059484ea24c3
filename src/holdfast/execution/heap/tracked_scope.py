"""Tracked scope: the frame of a function whose variables refer to large blocks, and the reports of activities about it.

All functions do nothing for other scopes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from holdfast.execution.heap.heap_book import HeapBook, Reach
from holdfast.execution.heap.iterators import DictPosition
from holdfast.model.scope import Scope
from holdfast.model.values import SCALARS

_NOTHING: dict[Any, Any] = {}
_SOURCES: tuple[Iterable[Any], ...] = (
    [],
    (),
    "",
    "\u0416",
    b"",
    range(0),
    range(1 << 70),
    _NOTHING,
    _NOTHING.values(),
    _NOTHING.items(),
)
_READING: frozenset[type] = frozenset(
    {
        *(type(iter(source)) for source in _SOURCES),
        type(reversed([])),
        DictPosition,
    }
)
"""Iterators that call no functions."""


class TrackedScope(list[Any]):
    """Frame whose variables refer to blocks."""

    __slots__ = ("book", "reaches")

    def __init__(self, items: Scope, book: HeapBook, reaches: Mapping[int, Iterable[Reach]]) -> None:
        super().__init__(items)
        self.book = book
        self.reaches = reaches
        """What each variable referred to when the burst began, except the block, or the `append` of the block, that it
        holds itself.
        """

    def mention(self, slot: int) -> bool:
        """Code can change the value of this variable. True if the value is or contains a block, which is not touched."""
        value = self[slot]
        if value.__class__ in SCALARS:
            return False
        found = self.reaches.get(slot)
        has_block = found is not None and self.book.reach(found)
        if self.book.block_of(value) is not None or self.book.appended_to(value) is not None:
            return True
        self.book.mention(value)
        return has_block

    def mention_all(self, slots: Iterable[int]) -> bool:
        """Code can change the values of these variables. True if one of the values is a block."""
        found = False
        for slot in slots:
            found = self.mention(slot) or found
        return found

    def expose(self, slot: int) -> None:
        """Code other than a compiled text reads this variable."""
        if self.mention(slot):
            self.book.whole(self[slot])


def mention(scope: Scope, slot: int) -> None:
    """The value of this variable moves to another variable, where it is not known."""
    if scope.__class__ is TrackedScope:
        scope.expose(slot)


def before_next(scope: Scope, slot: int) -> None:
    """A loop is about to take the next item. Iterators that call functions may change what they iterate over."""
    if scope.__class__ is TrackedScope and not _only_reads(scope[slot]):
        scope.expose(slot)


def _only_reads(iterator: Any) -> bool:
    kind = iterator.__class__
    if kind is enumerate or kind is zip:
        inner = iterator.__reduce__()[1]
        return all(_only_reads(item) for item in (inner[:1] if kind is enumerate else inner))
    return kind in _READING


def mention_value(scope: Scope, value: Any) -> None:
    """A value that an iterator gave. The variable that it goes to does not know the blocks in it."""
    if scope.__class__ is TrackedScope:
        scope.book.take(value)


def mention_item(scope: Scope, container: Any, key: Any) -> None:
    """An activity uses an item of a list of its frame, in a scope that does not report uses."""
    if scope.__class__ is TrackedScope:
        scope.book.key(container, key)
        if container.__class__ is dict or key < len(container):
            scope.book.expose_inside(container.get(key) if container.__class__ is dict else container[key])
