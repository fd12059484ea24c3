"""A frame that is committed and read again after each burst, as the store does it, beside a frame that never leaves memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from unittest import mock

import msgspec

from holdfast.execution import page_tree
from holdfast.execution.composite import UNSET
from holdfast.execution.frames import FrameShape, make_function
from holdfast.execution.heap import HeapBook, HeapPages, heap_pages, object_codec, tracked_block, write_heap
from holdfast.execution.heap.book_reader import read_book
from holdfast.execution.heap.iterators import decompose, is_storable_iterator
from holdfast.execution.heap.tracked_scope import TrackedScope, before_next, mention_value
from holdfast.execution.lazy_values import joined
from holdfast.model.scope import Scope
from holdfast.model.values import SCALARS, TypeRegistry, trees

NEXT = "next item of the loop"


@dataclass
class Part:
    n: Any
    l: list[Any]


TYPES = TypeRegistry().including(Part)
USES = {
    "Part": {"of": f"{__name__}:Part"},
    "datetime": {"of": "datetime:datetime"},
    "timezone": {"of": "datetime:timezone"},
}


class ValuesLost(Exception):
    """A program made values that cannot be stored."""


@contextmanager
def small_pages(many: int = 3, inline: int = 40, leaf: int = 60, log: int = 30, fanout: int = 3) -> Iterator[None]:
    """Limits so small that a few items make a tree of pages."""
    with (
        mock.patch.object(trees, "MANY", many),
        mock.patch.object(heap_pages, "INLINE_BYTES_MAX", inline),
        mock.patch.object(page_tree, "LEAF_BYTES", leaf),
        mock.patch.object(page_tree, "FANOUT", fanout),
        mock.patch.object(tracked_block, "LOG_BYTES_MAX", log),
    ):
        yield


class Frame:
    """The variables of one function, stored after each burst."""

    def __init__(self, names: Sequence[str]) -> None:
        self.shape = FrameShape("f", function="f", file="f.py", uses=USES)
        for name in names:
            self.shape.declare(name)
        self.references = self.shape.references
        self.stored: dict[str, bytes] = {}
        self.state = b""
        self.book: HeapBook | None = None
        self.scope: Scope = self.shape.open(None)
        self.written = 0
        """Bytes of pages that the last commit wrote."""
        self.texts: dict[str, Any] = {}

    def run(self, source: str, scope: Scope) -> str | None:
        """Run a text; returns the name of its exception."""
        if source == NEXT:
            return self._next(scope)
        text = self.texts.get(source)
        if text is None:
            text = self.texts[source] = make_function(source, self.shape, statements=True)
        try:
            text(scope)
        except Exception as error:  # noqa: BLE001 - both frames must raise the same
            return type(error).__name__
        return None

    def _next(self, scope: Scope) -> str | None:
        """The next item of a loop, as `LoopOver` takes it."""
        slot = self.shape.names["it"]
        if not is_storable_iterator(scope[slot]):
            return "no iterator"
        before_next(scope, slot)
        try:
            found = next(scope[slot], UNSET)
        except RuntimeError:  # a dict changed its size
            return "RuntimeError"
        mention_value(scope, found)
        scope[self.shape.names["x"]] = found
        return None

    def commit(self) -> None:
        names = self.shape.names
        variables = {name: value for name, index in names.items() if (value := self.scope[index]) is not UNSET}
        codec = object_codec(TYPES, self.references)
        try:
            pages = HeapPages(self.book, codec)
            document = write_heap([variables], TYPES, self.references, trusting=True, pages=pages)
            self.state = msgspec.msgpack.encode(document)
        except (OverflowError, UnicodeEncodeError):  # as `encode_state`
            pages = HeapPages(self.book, codec, whole=True)
            document = write_heap([variables], TYPES, self.references, trusting=False, pages=pages)
            self.state = msgspec.msgpack.encode(document)
        if document["lost"] != [{}]:
            raise ValuesLost(document["lost"])
        self.written = sum(map(len, pages.added.values()))
        for ref in pages.dropped:
            del self.stored[ref]
        assert not pages.added.keys() & self.stored.keys()
        self.stored.update(pages.added)
        self.book = pages.after
        if self.book is not None:
            self.book.replace_touched()

    def read(self, *, cold: bool = False) -> None:
        """The frame of the next burst."""
        self.scope, self.book = self._read(None if cold or self.book is None or not self.book.tracks else self.book)

    def _read(self, book: HeapBook | None) -> tuple[Scope, HeapBook | None]:
        stored = self.stored if book is None else book.fresh
        document = joined(msgspec.msgpack.decode(self.state), stored)
        (frame,), found = read_book(document, TYPES, self.references, book)
        scope = self.shape.open(None)
        for name, value in frame.variables.items():
            scope[self.shape.names[name]] = value
        if found is None or not found.tracks:
            return scope, found
        reaches = {self.shape.names[name]: reached for name, reached in frame.reaches.items()}
        return TrackedScope(scope, found, reaches), found

    def stored_scope(self) -> Scope:
        """The frame as any node would read it. Checks that the store has the pages of the frame and no others."""
        scope, book = self._read(None)
        assert self.stored.keys() == (set() if book is None else set(book.refs))
        if book is not None and self.book is not None:
            assert book.refs == self.book.refs
        return scope


def drawing(scope: Scope) -> list[Any]:
    """Values with their identities: equal for frames that no program can tell apart."""
    seen: dict[int, int] = {}
    alive: list[Any] = []

    def draw(value: Any) -> Any:
        if value is UNSET:
            return "unset"
        if value.__class__ in SCALARS or value.__class__.__module__ == "datetime":
            return value.__class__.__name__, value
        number = seen.get(id(value))
        if number is not None:
            return "seen", number
        if value.__class__ is not tuple:
            seen[id(value)] = len(seen)
        alive.append(value)
        if value.__class__ is list or value.__class__ is tuple:
            return value.__class__.__name__, [draw(item) for item in value]
        if value.__class__ is dict:
            return "dict", [(key, draw(item)) for key, item in value.items()]
        if value.__class__ is Part:
            return "Part", draw(value.n), draw(value.l)
        if hasattr(value, "__self__"):
            return "method", value.__name__, draw(value.__self__)
        position = decompose(value)
        assert position is not None
        return "iterator", position.maker, [draw(item) for item in position.parts], position.at or 0

    return [draw(value) for value in scope[2:]]
