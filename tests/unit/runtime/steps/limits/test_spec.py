"""Limits of queues: at a time, and per second."""

from __future__ import annotations

import pytest

from holdfast.errors import SettingsError
from holdfast.runtime.steps.limits.spec import Allowance, Limit, parse_limits


def test_limits_are_read_from_one_line() -> None:
    assert parse_limits("gpu=2, mail=8@10/s,sms=@0.5/s") == {
        "gpu": Limit(concurrency=2),
        "mail": Limit(concurrency=8, per_second=10.0),
        "sms": Limit(per_second=0.5),
    }
    assert parse_limits("mail/customer=2, mail=8, mail/region=@5/s") == {
        "mail": Limit(concurrency=8, each={"customer": Limit(concurrency=2), "region": Limit(per_second=5.0)})
    }
    assert parse_limits("") == {}


@pytest.mark.parametrize(
    "text", ["gpu", "gpu=", "gpu=two", "gpu=0", "gpu=@0/s", "g pu=1", "gpu=1@10/m", "gpu/=1", "gpu/a/b=1", "gpu/a=0"]
)
def test_what_is_no_limit_is_refused_with_the_remedy(text: str) -> None:
    with pytest.raises(SettingsError):
        parse_limits(text)


def test_so_many_at_a_time() -> None:
    two = Allowance(Limit(concurrency=2))
    assert [two.room(taken) for taken in (0, 1, 2)] == [2, 1, 0]


def test_so_many_per_second_and_no_credit_for_a_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr("holdfast.runtime.steps.limits.spec.time.monotonic", lambda: now)
    five = Allowance(Limit(per_second=5.0))
    assert five.room(0) == 5
    five.take(5)
    assert five.room(0) == 0
    now += 0.4
    assert five.room(0) == 2
    now += 3_600
    assert five.room(0) == 5
    assert five.patience == pytest.approx(0.2)
