"""Waking dict: a dict of a wide instance whose missing entries may be asleep.

The look-up of an entry wakes its branch. Iteration wakes all branches. `awake` reads the entries that need no waking.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Generic, TypeVar, cast

K = TypeVar("K")
V = TypeVar("V")


class Sleepers(Generic[K]):
    """The sleeping entries of one dict."""

    __slots__ = ("_kid_of", "count", "wake", "wake_all")

    def __init__(
        self, kid_of: Callable[[K], int | None], count: int, wake: Callable[[int], None], wake_all: Callable[[], None]
    ) -> None:
        self._kid_of = kid_of
        self.count = count
        self.wake = wake
        self.wake_all = wake_all

    def rouse(self, key: K) -> None:
        """Wake the branch of this entry, if it is asleep."""
        kid = self._kid_of(key)
        if kid is not None:
            self.wake(kid)

    def __contains__(self, key: K) -> bool:
        return self._kid_of(key) is not None


class WakingDict(dict[K, V]):
    __slots__ = ("order", "sleepers")

    def __init__(self, awake: Mapping[K, V], sleepers: Sleepers[K], order: Callable[[K], int]) -> None:
        super().__init__(awake)
        self.sleepers = sleepers
        self.order = order
        """Sort key of the entries: branches wake in any order."""

    # -- one entry -----------------------------------------------------------------------------------------------------

    def __missing__(self, key: K) -> V:
        self.sleepers.rouse(key)
        if not dict.__contains__(self, key):
            raise KeyError(key)
        return dict.__getitem__(self, key)

    def __contains__(self, key: object) -> bool:
        return dict.__contains__(self, key) or cast("K", key) in self.sleepers

    def get(self, key: K, default: Any = None) -> Any:
        if not dict.__contains__(self, key):
            self.sleepers.rouse(key)
        return dict.get(self, key, default)

    def pop(self, key: K, *default: Any) -> Any:
        if not dict.__contains__(self, key):
            self.sleepers.rouse(key)
        return dict.pop(self, key, *default)

    def __delitem__(self, key: K) -> None:
        if not dict.__contains__(self, key):
            self.sleepers.rouse(key)
        dict.__delitem__(self, key)

    def setdefault(self, key: K, default: Any = None) -> Any:
        if not dict.__contains__(self, key):
            self.sleepers.rouse(key)
        return dict.setdefault(self, key, default)

    # -- all entries ---------------------------------------------------------------------------------------------------

    def __len__(self) -> int:
        return dict.__len__(self) + self.sleepers.count

    def __bool__(self) -> bool:
        return bool(dict.__len__(self)) or self.sleepers.count > 0

    def __iter__(self) -> Iterator[K]:
        return iter(self._all().keys())

    def __reversed__(self) -> Iterator[K]:
        return reversed(self._all().keys())

    def keys(self) -> Any:
        return self._all().keys()

    def values(self) -> Any:
        return self._all().values()

    def items(self) -> Any:
        return self._all().items()

    def copy(self) -> dict[K, V]:
        return self._all()

    def popitem(self) -> tuple[K, V]:
        key = next(reversed(self))
        return key, self.pop(key)

    def clear(self) -> None:
        self.sleepers.wake_all()
        dict.clear(self)

    def __eq__(self, other: object) -> bool:
        return self._all() == other

    __hash__ = None

    def _all(self) -> dict[K, V]:
        """All entries in order, after all branches have been woken."""
        self.sleepers.wake_all()
        return {key: dict.__getitem__(self, key) for key in sorted(dict.keys(self), key=self.order)}


def awake(found: dict[K, V]) -> dict[K, V]:
    """The entries that are awake, in order."""
    if found.__class__ is not WakingDict:
        return found
    order = cast("WakingDict[K, V]", found).order
    return {key: dict.__getitem__(found, key) for key in sorted(dict.keys(found), key=order)}
