"""Liveness: the interval of heartbeats, and the moment from which a silent node starts no effects."""

from __future__ import annotations

import time
from datetime import timedelta
from typing import Any

import pytest

from holdfast.runtime.liveness import Liveness

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
