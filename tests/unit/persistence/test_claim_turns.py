"""Turns of tenants in a claim."""

from __future__ import annotations

from holdfast.persistence.claim_turns import take_turns
from holdfast.testing.store_rows import work


def test_a_single_tenant_keeps_its_order() -> None:
    rows = [work("a", id=str(number)) for number in range(5)]

    assert take_turns(rows, 3) == rows[:3]


def test_no_tenant_waits_behind_the_backlog_of_another() -> None:
    backlog, few = [work("a", id=str(number)) for number in range(5)], [work("b", id="x"), work("b", id="y")]

    found = take_turns([*backlog, *few], 3)

    assert [(row.tenant, row.id) for row in found] == [("a", "0"), ("b", "x"), ("a", "1")]
    assert len(take_turns([*backlog, *few], 9)) == 7
