"""Branch index: finds the sleeping branch of a bookmark, an effect or a waiting execution."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from holdfast.execution.branches.branch_state import BranchState
from holdfast.model.wake_keys import STORED_KINDS, stored_key


class BranchIndex:
    """All sleeping branches of an instance at its last commit. It stays in memory between bursts."""

    __slots__ = ("effects", "keys", "kids", "marks", "newest", "waiters")

    def __init__(self) -> None:
        self.kids: dict[int, set[int]] = {}
        """Sleeping kids of each owner."""
        self.effects: dict[int, int] = {}
        """Kid of each execution with an effect."""
        self.waiters: dict[int, int] = {}
        """Kid of each execution with an effect or a bookmark."""
        self.marks: dict[str, int] = {}
        """Kid of each bookmark."""
        self.keys: dict[int, set[int]] = {}
        """Kids with a bookmark of this wake key."""
        self.newest = 0
        """Highest number of a bookmark that was ever added."""

    def add(self, branch: BranchState) -> None:
        kid = branch.activations[0].id
        self.kids.setdefault(branch.owner, set()).add(kid)
        for effect in branch.effects:
            self.effects[effect.execution_id] = self.waiters[effect.execution_id] = kid
        for mark in branch.bookmarks:
            self.waiters[mark.execution_id] = self.marks[mark.id] = kid
            self.newest = max(self.newest, int(mark.id[1:]))
            if mark.kind in STORED_KINDS:
                self.keys.setdefault(stored_key(mark.name, mark.payload, mark.hash.hex()), set()).add(kid)

    def remove(self, branch: BranchState) -> None:
        kid = branch.activations[0].id
        _discard(self.kids, branch.owner, kid)
        for effect in branch.effects:
            del self.effects[effect.execution_id]
            self.waiters.pop(effect.execution_id, None)
        for mark in branch.bookmarks:
            self.waiters.pop(mark.execution_id, None)
            del self.marks[mark.id]
            if mark.kind in STORED_KINDS:
                _discard(self.keys, stored_key(mark.name, mark.payload, mark.hash.hex()), kid)


def index_of(branches: Iterable[BranchState]) -> BranchIndex:
    index = BranchIndex()
    for branch in branches:
        index.add(branch)
    return index


def _discard(found: dict[int, set[int]], key: int, kid: int) -> None:
    found[key].discard(kid)
    if not found[key]:
        del found[key]


class BranchChanges(Struct, frozen=True):
    """The index of the last commit and the changes of this one. They are applied when the next burst begins: until then the
    instance of this burst may be read."""

    index: BranchIndex
    removed: list[BranchState]
    added: list[BranchState]

    def apply(self) -> BranchIndex:
        for branch in self.removed:
            self.index.remove(branch)
        for branch in self.added:
            self.index.add(branch)
        return self.index
