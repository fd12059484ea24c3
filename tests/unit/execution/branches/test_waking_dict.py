"""Waking dict: a look-up wakes one branch, iteration wakes all, the rest wakes none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from holdfast.execution.branches.waking_dict import Sleepers, WakingDict, awake


class Bed:
    """Entries 0 to 9 sleep, each in a branch of its own; the dict has 10 and 11."""

    def __init__(self) -> None:
        self.woken: list[int] = []
        self.sleepers: Sleepers[int] = Sleepers(self.kid_of, 10, self.wake, self.wake_all)
        self.found: WakingDict[int, str] = WakingDict({11: "11", 10: "10"}, self.sleepers, int)

    def kid_of(self, key: int) -> int | None:
        return key if key in range(10) and key not in self.woken else None

    def wake(self, kid: int) -> None:
        self.woken.append(kid)
        self.sleepers.count -= 1
        self.found[kid] = str(kid)

    def wake_all(self) -> None:
        for kid in reversed(range(10)):
            if kid not in self.woken:
                self.wake(kid)


@pytest.mark.parametrize(
    "look",
    [
        lambda found: found[3],
        lambda found: found.get(3),
        lambda found: found.pop(3),
        lambda found: found.setdefault(3, "other"),
    ],
)
def test_a_look_up_wakes_its_branch_only(look: Callable[[Any], str]) -> None:
    bed = Bed()

    assert look(bed.found) == "3"
    assert bed.woken == [3]


@pytest.mark.parametrize(
    "act", [len, bool, lambda found: 3 in found, lambda found: found[10], lambda found: found.get(99), awake]
)
def test_other_uses_wake_nothing(act: Callable[[Any], object]) -> None:
    bed = Bed()
    act(bed.found)

    assert bed.woken == []


def test_the_length_counts_sleepers() -> None:
    bed = Bed()
    assert len(bed.found) == 12
    del bed.found[4]

    assert len(bed.found) == 11
    assert 4 not in bed.found
    with pytest.raises(KeyError):
        bed.found[4]


@pytest.mark.parametrize(
    "read",
    [
        list,
        lambda found: list(found.keys()),
        lambda found: [int(value) for value in found.values()],
        lambda found: [key for key, _ in found.items()],
        lambda found: list(found.copy()),
        lambda found: list(dict(found)),
        lambda found: list({**found}),
        lambda found: list(reversed(found))[::-1],
        lambda found: list({} | found),
    ],
)
def test_iteration_wakes_all_in_order(read: Callable[[Any], list[int]]) -> None:
    bed = Bed()
    bed.found.get(7)

    assert read(bed.found) == list(range(12))


def test_clear_and_popitem_reach_sleepers() -> None:
    bed = Bed()

    assert bed.found.popitem() == (11, "11")
    bed.found.clear()
    assert not bed.found
    assert len(bed.woken) == 10


def test_what_is_awake_comes_in_order() -> None:
    bed = Bed()
    bed.found.get(7)
    bed.found.get(2)

    assert awake(bed.found) == {2: "2", 7: "7", 10: "10", 11: "11"}
    assert list(awake(bed.found)) == [2, 7, 10, 11]
    plain = {2: "2", 1: "1"}
    assert awake(plain) is plain


def test_it_equals_a_dict_with_all_entries() -> None:
    assert Bed().found == {number: str(number) for number in range(12)}
