"""Limits of queues: their notation, and the limit of one node."""

from __future__ import annotations

import pytest

from holdfast.errors import SettingsError
from holdfast.runtime.steps.limits.local import LocalLimit
from holdfast.runtime.steps.limits.spec import Limit, parse_limits


def test_limits_are_read_from_one_line() -> None:
    assert parse_limits("gpu=2, mail=8@10/s,sms=@0.5/s") == {
        "gpu": Limit(concurrency=2),
        "mail": Limit(concurrency=8, per_second=10.0),
        "sms": Limit(per_second=0.5),
    }
    assert parse_limits("mail/customer=2, mail=8, mail/region=@5/s") == {
        "mail": Limit(concurrency=8, per_value={"customer": Limit(concurrency=2), "region": Limit(per_second=5.0)})
    }
    assert parse_limits("") == {}


@pytest.mark.parametrize(
    "text", ["gpu", "gpu=", "gpu=two", "gpu=0", "gpu=@0/s", "g pu=1", "gpu=1@10/m", "gpu/=1", "gpu/a/b=1", "gpu/a=0"]
)
def test_a_malformed_limit_is_refused_with_the_remedy(text: str) -> None:
    with pytest.raises(SettingsError):
        parse_limits(text)


def test_a_concurrency_limit_leaves_room_for_the_rest() -> None:
    two = LocalLimit(Limit(concurrency=2))
    assert [two.room(running) for running in (0, 1, 2)] == [2, 1, 0]


def test_a_rate_limit_allows_one_second_of_burst_after_a_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr("holdfast.runtime.steps.limits.local.time.monotonic", lambda: now)
    five = LocalLimit(Limit(per_second=5.0))
    assert five.room(0) == 5
    five.take(5)
    assert five.room(0) == 0
    now += 0.4
    assert five.room(0) == 2
    now += 3_600
    assert five.room(0) == 5
    assert five.poll_seconds == pytest.approx(0.2)
