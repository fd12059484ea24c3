"""Sleeping branches of a live instance: wakes a branch when a burst uses it, and keeps count for the commit."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from holdfast.execution.branches.branch_index import BranchIndex
from holdfast.execution.branches.branch_state import BranchState, unpack_branch
from holdfast.execution.branches.waking_dict import Sleepers
from holdfast.model.instance import Bookmark

Read = Callable[[BranchState], Iterable[Bookmark]]
"""Adds the parts of a branch to the instance. Returns its bookmarks."""


class SleepingBranches:
    """The index is as the last commit left it; `woken` are the branches that this burst has unpacked."""

    def __init__(self, records: dict[int, bytes], index: BranchIndex, read: Read) -> None:
        self.records = records
        """Packed branches by the execution id of their kid: a large variable of a hidden frame."""
        self.index = index
        self._read = read
        self.woken: dict[int, BranchState] = {}
        """Woken branches as they were stored."""
        self.before: dict[str, Bookmark] | None = None
        """Bookmarks of the last commit, as far as this burst knows them."""
        self.effects = self._sleepers(index.effects.get, len(index.effects))
        self.waiters = self._sleepers(index.waiters.get, len(index.waiters))
        self.marks = self._sleepers(index.marks.get, len(index.marks))
        self.kids = {owner: self._sleepers(_member(found), len(found)) for owner, found in index.kids.items()}
        self._total = sum(map(len, index.kids.values()))

    def wake(self, kid: int) -> None:
        if kid in self.woken:
            return
        branch = self.woken[kid] = unpack_branch(self.records[kid])
        self.kids[branch.owner].count -= 1
        self.effects.count -= len(branch.effects)
        self.marks.count -= len(branch.bookmarks)
        self.waiters.count -= len(_waiting(branch))
        found = self._read(branch)
        if self.before is not None:
            self.before.update((mark.id, mark) for mark in found)

    def wake_all(self) -> None:
        if len(self.woken) < self._total:
            for found in self.index.kids.values():
                for kid in sorted(found):
                    self.wake(kid)

    def wake_keys(self, keys: Iterable[int]) -> None:
        """Wake the branches with a bookmark of one of these wake keys."""
        for key in keys:
            for kid in sorted(self.index.keys.get(key, ())):
                self.wake(kid)

    def wake_since(self, number: int) -> None:
        """Wake all branches if one of them has a bookmark that is newer than this number."""
        if self.index.newest > number:
            self.wake_all()

    def close(self) -> None:
        """End the cycle between the instance and its branches."""
        self.effects = self.waiters = self.marks = Sleepers(_never, 0, _ignore, _nothing)
        self.kids = {}

    def _sleepers(self, kid_of: Callable[[Any], int | None], count: int) -> Sleepers[Any]:
        woken = self.woken

        def asleep(key: Any) -> int | None:
            kid = kid_of(key)
            return None if kid is None or kid in woken else kid

        return Sleepers(asleep, count, self.wake, self.wake_all)


def _never(key: Any) -> None:
    return None


def _ignore(kid: int) -> None:
    return None


def _nothing() -> None:
    return None


def _member(kids: set[int]) -> Callable[[int], int | None]:
    return lambda kid: kid if kid in kids else None


def _waiting(branch: BranchState) -> set[int]:
    return {item.execution_id for item in branch.effects} | {item.execution_id for item in branch.bookmarks}
