"""Liveness: the interval of heartbeats, and the moment from which a silent node starts no effects."""

from __future__ import annotations

import time
from datetime import timedelta
from typing import Any

import pytest

from holdfast.model.cluster import NodeRow, NodeState
from holdfast.runtime.liveness import Liveness
from holdfast.testing.store_rows import AT

LEASE = timedelta(seconds=30)


@pytest.mark.parametrize(
    ("beat_every", "seconds"),
    [(None, 10.0), (timedelta(seconds=2), 2.0), (timedelta(seconds=25), 10.0)],
)
def test_at_least_three_heartbeats_fit_into_a_lease(beat_every: timedelta | None, seconds: float) -> None:
    assert Liveness(LEASE, beat_every).beat_seconds == seconds


@pytest.mark.parametrize(("silent", "may_start"), [(0.0, True), (19.9, True), (20.0, False), (31.0, False)])
def test_effects_start_until_two_thirds_of_the_lease_have_passed(
    monkeypatch: pytest.MonkeyPatch, silent: float, may_start: bool
) -> None:
    now: Any = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    liveness = Liveness(LEASE)
    now[0] += silent

    assert liveness.may_start_effects is may_start


def test_a_renewed_lease_permits_effects_again(monkeypatch: pytest.MonkeyPatch) -> None:
    now: Any = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    liveness = Liveness(LEASE)
    now[0] += 60
    liveness.renewed_at = now[0]

    assert liveness.may_start_effects


def test_a_fenced_node_starts_no_effects() -> None:
    liveness = Liveness(LEASE)
    liveness.fenced = True

    assert not liveness.may_start_effects


def silent_node(state: NodeState = NodeState.LIVE) -> NodeRow:
    """A node whose lease of 30 seconds has just run out."""
    return NodeRow(id="b", boot=2, worker=2, state=state, started=AT, heartbeat=AT, time_to_live=LEASE)


@pytest.mark.parametrize(
    ("gap", "contact", "may_renew"),
    [
        (10.0, 60.0, False),  # This node could reach the database all the time: the other node is dead.
        (15.1, 0.0, True),  # The database was away for this node too, and is just back.
        (40.0, 29.9, True),
        (40.0, 30.0, False),
    ],
)
def test_a_lease_that_ran_out_proves_a_death_only_after_a_lease_of_contact(
    monkeypatch: pytest.MonkeyPatch, gap: float, contact: float, may_renew: bool
) -> None:
    now: Any = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    liveness = Liveness(LEASE)
    now[0] += 60.0  # Long enough after the start.
    liveness.renewed_at = now[0]
    now[0] += gap
    liveness.renew(now[0])
    now[0] += contact

    assert liveness.may_renew(silent_node(), AT + LEASE) is may_renew


def test_a_node_that_left_or_is_alive_renews_nothing() -> None:
    liveness = Liveness(LEASE)

    assert not liveness.may_renew(silent_node(NodeState.LEFT), AT + LEASE)
    assert not liveness.may_renew(silent_node(), AT)
    assert liveness.may_renew(silent_node(), AT + LEASE)


def test_a_renewal_that_is_reported_twice_or_late_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    now: Any = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    liveness = Liveness(LEASE)
    now[0] += 10
    liveness.renew(now[0])
    since = liveness.contact_since
    now[0] += 25

    liveness.renew(110.0)

    assert (liveness.renewed_at, liveness.contact_since) == (110.0, since)
    assert not liveness.may_start_effects
