"""Iterators as data: their source and their position.

Most of Python's iterators report both through `__reduce__`. Iterators of dicts and sets report only a list of the
remaining items. They are replaced by iterators that keep a reference to the dict or set, so that later changes are
noticed as before.
"""

from __future__ import annotations

import gc
import itertools
from collections.abc import Iterator
from typing import Any, NamedTuple

_NOTHING: dict[Any, Any] = {}
_VIEWS: dict[str, Any] = {"keys": _NOTHING.keys(), "values": _NOTHING.values(), "items": _NOTHING.items()}
_DICT_ITERATORS: dict[type, str] = {
    **{type(iter(view)): name for name, view in _VIEWS.items()},
    **{type(reversed(view)): f"reversed {name}" for name, view in _VIEWS.items()},
}
_SET_ITERATOR: type = type(iter(frozenset()))

MAKERS: dict[str, Any] = {
    "iter": iter,
    "reversed": reversed,
    "enumerate": enumerate,
    "zip": zip,
    "map": map,
    "filter": filter,
    "chain": itertools.chain,
    "islice": itertools.islice,
    "count": itertools.count,
    "repeat": itertools.repeat,
}
"""Functions that rebuild an iterator, by stored name."""
_NAMES = {maker: name for name, maker in MAKERS.items()}

_PLAIN = {
    type(iter([])),
    type(reversed([])),
    type(iter(())),
    type(iter("")),
    type(iter("\u0416")),
    type(iter(b"")),
    type(iter(range(0))),
    type(iter(range(1 << 70))),
    enumerate,
    zip,
    map,
    filter,
    reversed,
    itertools.chain,
    itertools.islice,
    itertools.count,
    itertools.repeat,
}


class Position(NamedTuple):
    """Decomposed iterator: its maker, the arguments, and the position."""

    maker: str
    parts: list[Any]
    at: Any = None


def is_storable_iterator(value: Any) -> bool:
    cls = type(value)
    return cls in _PLAIN or cls in _DICT_ITERATORS or cls is _SET_ITERATOR or cls in (DictPosition, SetPosition)


def decompose(value: Any) -> Position | None:
    """Decompose an iterator; None for other values. Raises `ValueError` if the position cannot be determined."""
    cls = type(value)
    if cls is DictPosition or cls is SetPosition:
        found: Position = value.decompose()
        return found
    if cls in _DICT_ITERATORS:
        return _dict_position(value, _DICT_ITERATORS[cls])
    if cls is _SET_ITERATOR:
        return _set_position(value)
    if cls not in _PLAIN:
        return None
    maker, parts, *state = value.__reduce__()
    return Position(_NAMES[maker], list(parts), state[0] if state else None)


def rebuild_iterator(maker: str, parts: list[Any], at: Any) -> Iterator[Any]:
    if maker == "dict":
        return DictPosition(parts[0], *at)
    if maker == "set":
        return SetPosition(parts[0], parts[1], at)
    made: Any = MAKERS[maker](*parts)
    if at is not None:
        _set_state(made, parts[0] if parts else None, at)
    found: Iterator[Any] = made
    return found


def _set_state(made: Any, source: Any, at: Any) -> None:
    """Set the position of an iterator.

    A list iterator clamps a position behind the end, so pad the list, set, and trim.
    """
    missing = at + 1 - len(source) if type(source) is list and isinstance(at, int) else 0
    if missing > 0:
        source.extend([None] * missing)
    made.__setstate__(at)
    if missing > 0:
        del source[-missing:]


# -- dicts -------------------------------------------------------------------------------------------------------------


def _dict_position(value: Any, kind: str) -> Position:
    source = next((item for item in gc.get_referents(value) if isinstance(item, dict)), None)
    if source is None:
        return Position("iter", [()])
    try:
        left = len(value.__reduce__()[1][0])
    except RuntimeError as error:
        if "keys changed" in str(error):
            raise ValueError("a loop iterates over a dict whose keys were replaced: loop over list(…)") from None
        return Position("dict", [source], [kind, 0, 0, -1])
    return Position("dict", [source], [kind, len(source) - left, value.__length_hint__(), len(source)])


NOT_CREATED = object()


class DictPosition(Iterator[Any]):
    """Restored dict iterator with the same position and the same error checks."""

    __slots__ = ("_inner", "consumed", "counts", "kind", "left", "size", "source")

    def __init__(
        self, source: dict[Any, Any], kind: str, consumed: int, left: int, size: int, inner: Iterator[Any] | None = None
    ) -> None:
        """`inner`: an iterator of the dict that is at this position."""
        self.source, self.kind, self.consumed, self.left, self.size = source, kind, consumed, left, size
        self.counts = False
        """The dict has the same keys as when this iterator was created, so `consumed` is its position."""
        # A dict that contains its own iterator is incomplete while it is read: create the inner iterator on first use.
        self._inner: Any = inner or (self._made() if size == len(source) else NOT_CREATED)

    def _made(self) -> Any:
        view: Any = getattr(self.source, self.kind.removeprefix("reversed "))()
        made = reversed(view) if self.kind.startswith("reversed") else iter(view)
        for _ in range(self.consumed if self.size == len(self.source) else 0):
            next(made)
        return made

    @property
    def inner(self) -> Any:
        if self._inner is NOT_CREATED:
            self._inner = self._made()
        return self._inner

    def __next__(self) -> Any:
        if self.inner is None:
            raise StopIteration
        if self.size != len(self.source):
            self.size = -1
            raise RuntimeError("dictionary changed size during iteration")
        try:
            found = next(self.inner)
        except StopIteration:
            self._inner = None
            raise
        if self.left == 0:
            self._inner = None
            raise RuntimeError("dictionary keys changed during iteration")
        self.left -= 1
        self.consumed += 1
        return found

    def release(self) -> Iterator[Any] | None:
        """The inner iterator, which this iterator does not use any more."""
        inner, self._inner = self._inner, NOT_CREATED
        return None if inner is NOT_CREATED else inner

    def decompose(self) -> Position:
        if self.inner is None:
            return Position("iter", [()])
        if self.size != len(self.source):
            return Position("dict", [self.source], [self.kind, 0, 0, -1])
        if self.counts:
            return Position("dict", [self.source], [self.kind, self.consumed, self.left, self.size])
        try:
            left = len(self.inner.__reduce__()[1][0])
        except RuntimeError:
            raise ValueError("a loop iterates over a dict whose keys were replaced: loop over list(…)") from None
        return Position("dict", [self.source], [self.kind, len(self.source) - left, self.left, self.size])


# -- sets --------------------------------------------------------------------------------------------------------------


def _set_position(value: Any) -> Position:
    source = next((item for item in gc.get_referents(value) if isinstance(item, set | frozenset)), None)
    if source is None:
        return Position("iter", [()])
    try:
        rest = list(value.__reduce__()[1][0])
    except RuntimeError:
        return Position("set", [source, []], -1)
    return Position("set", [source, rest], len(source))


class SetPosition(Iterator[Any]):
    """Restored set iterator: the remaining elements, in their order."""

    __slots__ = ("next_one", "rest", "size", "source")

    def __init__(self, source: Any, rest: list[Any], size: int) -> None:
        self.source, self.rest, self.size, self.next_one = source, rest, size, 0

    def __next__(self) -> Any:
        if self.source is None:
            raise StopIteration
        if self.size != len(self.source):
            self.size = -1
            raise RuntimeError("Set changed size during iteration")
        if self.next_one >= len(self.rest):
            self.source = None
            raise StopIteration
        self.next_one += 1
        return self.rest[self.next_one - 1]

    def decompose(self) -> Position:
        if self.source is None:
            return Position("iter", [()])
        return Position("set", [self.source, self.rest[self.next_one :]], self.size)
