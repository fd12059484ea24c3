"""Branch index: finds the branch of each effect, bookmark and waiting execution."""

from __future__ import annotations

from holdfast.execution.branches.branch_index import BranchChanges, BranchIndex, index_of
from holdfast.execution.branches.branch_state import BranchState
from holdfast.execution.state import ActivationState, BookmarkState, EffectState
from holdfast.model.wake_keys import stored_key


def branch(kid: int, owner: int = 1) -> BranchState:
    mark = BookmarkState(f"b{kid}", "Event", "wait", kid + 100, bytes(4), {"event_name": "go"})
    return BranchState(
        owner,
        [ActivationState(kid, "branch", 0), ActivationState(kid + 100, "wait", 1, owner=kid)],
        bookmarks=[mark],
        effects=[EffectState(kid, "call", 1)],
    )


def test_it_finds_what_a_branch_waits_for() -> None:
    index = index_of([branch(5), branch(6, owner=2)])

    assert index.kids == {1: {5}, 2: {6}}
    assert index.effects == {5: 5, 6: 6}
    assert index.waiters == {5: 5, 105: 5, 6: 6, 106: 6}
    assert index.marks == {"b5": 5, "b6": 6}
    assert index.keys == {stored_key("Event", {"event_name": "go"}, bytes(4).hex()): {5, 6}}
    assert index.newest == 6


def test_changes_are_applied_later() -> None:
    index = index_of([branch(5), branch(6)])
    changes = BranchChanges(index, [branch(5)], [branch(7)])
    assert index.marks == {"b5": 5, "b6": 6}

    found = changes.apply()

    assert found is index
    assert found.marks == {"b6": 6, "b7": 7}
    assert found.kids == {1: {6, 7}}


def test_nothing_stays_of_removed_branches() -> None:
    index = BranchIndex()
    index.add(branch(5))
    index.remove(branch(5))

    assert not any([index.kids, index.effects, index.waiters, index.marks, index.keys])
