"""Branch reader: opens the sleeping branches of an instance, and adds a branch to the instance when it wakes."""

from __future__ import annotations

from collections.abc import Iterator
from weakref import proxy

from holdfast.execution.activation import Activation
from holdfast.execution.branches.branch_index import BranchIndex, index_of
from holdfast.execution.branches.branch_state import RECORDS, BranchState, unpack_branch
from holdfast.execution.branches.sleeping_branches import SleepingBranches
from holdfast.execution.branches.waking_dict import WakingDict
from holdfast.execution.heap.book_reader import FrameData
from holdfast.execution.heap.reader import read_variable
from holdfast.execution.live import LiveInstance
from holdfast.execution.part_reader import PartReader
from holdfast.execution.state import BookmarkState, State
from holdfast.execution.unreadable import unreadable
from holdfast.model.instance import Bookmark


def open_branches(live: LiveInstance, frame: FrameData) -> None:
    """Let the instance find its sleeping branches. `frame` is the hidden frame with their records."""
    records: dict[int, bytes] = frame.variables[RECORDS]
    index = _index(live, records)
    owners = {item.id: item for item in _tops(live) if item.id in index.kids}

    here: LiveInstance = proxy(live)  # the instance refers to its branches: a cycle would keep both

    def read(branch: BranchState) -> list[Bookmark]:
        try:
            return read_branch(here, owners[branch.owner], branch)
        except Exception as error:
            raise unreadable(here.id, error) from error

    asleep = live.asleep = SleepingBranches(records, index, read)
    live.effects = WakingDict(live.effects, asleep.effects, int)
    live.waiters = WakingDict(live.waiters, asleep.waiters, int)
    live.bookmarks = WakingDict(live.bookmarks, asleep.marks, _number)
    for number, owner in owners.items():
        owner.kids = WakingDict(owner.kids or {}, asleep.kids[number], int)


def read_branch(live: LiveInstance, owner: Activation, branch: BranchState) -> list[Bookmark]:
    """Add a branch to the instance."""
    reader = PartReader(live, [])
    reader.scopes.append(owner.scope)
    reader.activations[owner.id] = owner
    if branch.place is not None:
        woken = owner.node.hooks.woken
        assert woken is not None
        reader.scopes.append(woken(owner, branch.place))
    reader.read_scopes(branch.scopes)
    reader.read_activations(branch.activations)
    reader.read_bookmarks(branch.bookmarks)
    reader.read_effects(branch.effects)
    return [dict.__getitem__(live.bookmarks, mark.id) for mark in branch.bookmarks]


def _index(live: LiveInstance, records: dict[int, bytes]) -> BranchIndex:
    """The index that the last commit of this node left, or a new one from the records."""
    changes = None if live.heap is None else live.heap.branches
    return index_of(map(unpack_branch, records.values())) if changes is None else changes.apply()


def _tops(live: LiveInstance) -> list[Activation]:
    """All activations that are awake."""
    everyone = [live.root, live.cleanup, *live.leftovers]
    for item in everyone:  # grows while it is iterated
        if item.kids:
            everyone += item.kids.values()
    return everyone


def _number(bookmark_id: str) -> int:
    return int(bookmark_id[1:])


def stored_bookmarks(state: State) -> Iterator[BookmarkState]:
    """All bookmarks of a stored state, oldest first, without reading the rest of it."""
    if not state.branches:
        yield from state.bookmarks
        return
    records = read_variable(state.heap, state.branches - 1, RECORDS)
    found = [mark for record in records.values() for mark in unpack_branch(record).bookmarks]
    yield from sorted([*state.bookmarks, *found], key=lambda mark: _number(mark.id))
