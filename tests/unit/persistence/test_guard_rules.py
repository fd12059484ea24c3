"""Guard rules, without a database."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given, strategies as st

from holdfast.model.commit import COMMITTED, Commit, Conflict, ConflictReason
from holdfast.model.guard import activation_slot, idempotency_key
from holdfast.model.stored import InstanceKey
from holdfast.model.work import NO_OWNER, EffectRef, ScheduleStep
from holdfast.persistence.guard_rules import Holder, check_guards
from holdfast.persistence.sql.guard_evidence import GuardEvidence
from holdfast.testing.store_rows import commit_of, instance, later

KEY = idempotency_key(operation="start", target="t", key="k")
SLOT = activation_slot(strategy="singleton")
GUARDED: dict[ConflictReason, dict[str, object]] = {
    ConflictReason.KEY: {"guards_taken": (KEY,)},
    ConflictReason.SLOT: {"guards_taken": (SLOT,)},
    ConflictReason.WORK: {"work_consumed": ("w",)},
    ConflictReason.INBOX: {"inbox_consumed": ("s",)},
    ConflictReason.EFFECT: {"effects_consumed": (EffectRef(1, 1, NO_OWNER),)},
    ConflictReason.SCHEDULE: {"schedules_fired": (ScheduleStep("c", later(0), None),)},
}


def holding(*broken: ConflictReason) -> GuardEvidence:
    """Evidence for which all guards of version 2 hold, except these."""
    found = GuardEvidence()
    found.versions[InstanceKey("", "i")] = 5 if ConflictReason.VERSION in broken else 1
    if ConflictReason.KEY in broken:
        found.holders["", KEY.ref] = Holder("other", "")
    if ConflictReason.SLOT in broken:
        found.holders["", SLOT.ref] = Holder("other", "")
    if ConflictReason.WORK not in broken:
        found.work.add(("", "w"))
    if ConflictReason.INBOX not in broken:
        found.inbox.add(("", "s"))
    if ConflictReason.EFFECT not in broken:
        found.effects["", "i", 1] = EffectRef(1, 1, NO_OWNER)
    if ConflictReason.SCHEDULE not in broken:
        found.schedules["", "c"] = later(0)
    return found


def guarded(**more: object) -> Commit:
    rows = {name: value for given in GUARDED.values() for name, value in given.items()}
    return commit_of(instance("i", 2), **(rows | {"guards_taken": (KEY, SLOT)} | more))


def test_all_guards_hold() -> None:
    accept: list[Commit] = []

    outcomes = check_guards([guarded()], holding(), accept.append)

    assert outcomes == [COMMITTED]
    assert len(accept) == 1


@pytest.mark.parametrize("reason", [*GUARDED, ConflictReason.VERSION])
def test_each_guard_alone_stops_a_commit(reason: ConflictReason) -> None:
    accept: list[Commit] = []

    (outcome,) = check_guards([guarded()], holding(reason), accept.append)

    assert isinstance(outcome, Conflict)
    assert outcome.reason is reason
    assert not accept


@pytest.mark.parametrize("pair", list(combinations([ConflictReason.VERSION, *GUARDED], 2)))
def test_the_first_conflict_in_lock_order_is_reported(pair: tuple[ConflictReason, ConflictReason]) -> None:
    (outcome,) = check_guards([guarded()], holding(*pair), lambda commit: None)

    assert isinstance(outcome, Conflict)
    assert outcome.reason is pair[0]


def test_a_burst_that_is_stored_was_sent_before() -> None:
    commit, found = guarded(), holding(ConflictReason.VERSION, ConflictReason.KEY, ConflictReason.WORK)
    found.bursts[InstanceKey("", "i"), 2] = commit.burst_id
    accept: list[Commit] = []

    assert check_guards([commit], found, accept.append) == [COMMITTED]
    assert not accept


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2), st.integers(0, 2)), max_size=12))
def test_in_a_batch_each_guard_has_one_winner(starts: list[tuple[int, int, int]]) -> None:
    """For any shared keys, slots and rows, an accepted commit of a batch never conflicts with an earlier accepted one."""
    found = GuardEvidence()
    found.work |= {("", f"w{number}") for number in range(3)}
    batch = [
        commit_of(
            instance(f"i{number}"),
            guards_taken=(idempotency_key(operation="start", target="t", key=str(key)),),
            work_consumed=(f"w{row}",),
            guards_released=(SLOT.ref,) if slot else (),
        )
        for number, (key, row, slot) in enumerate(starts)
    ]
    winners: list[Commit] = []

    def accept(commit: Commit) -> None:
        found.apply(commit)
        winners.append(commit)

    outcomes = check_guards(batch, found, accept)

    assert [commit for commit, outcome in zip(batch, outcomes, strict=True) if outcome == COMMITTED] == winners
    assert len({commit.guards_taken[0].name for commit in winners}) == len(winners)
    assert len({commit.work_consumed[0] for commit in winners}) == len(winners)
    for commit, outcome in zip(batch, outcomes, strict=True):
        if isinstance(outcome, Conflict):
            taken = {winner.guards_taken[0].name for winner in winners} | {
                winner.work_consumed[0] for winner in winners
            }
            assert {commit.guards_taken[0].name, commit.work_consumed[0]} & taken
