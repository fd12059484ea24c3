"""The pulse is plain data; the contract of stores tests its answers."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from holdfast.model.pulse import Pulse


def test_a_pulse_cannot_be_changed() -> None:
    pulse = Pulse(
        now=datetime(2030, 1, 1, tzinfo=UTC),
        epoch=1,
        nodes=(),
        until_due={},
        next_schedule=None,
        has_lost_effects=False,
        has_waiting_effects=False,
        has_own_effects=False,
        has_inbox=False,
        has_outbox=False,
    )

    with pytest.raises(AttributeError):
        pulse.epoch = 2  # type: ignore[misc]  # the test is about the error
