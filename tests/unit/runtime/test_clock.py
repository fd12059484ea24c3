"""A machine's clock that is wrong, beside a store's."""

from __future__ import annotations

import logging
from datetime import UTC, datetime, timedelta

import pytest

from holdfast.runtime.clock import SystemClock

NOON = datetime(2030, 1, 1, 12, tzinfo=UTC)
SECOND_NS = 1_000_000_000


class Machine:
    def __init__(self) -> None:
        self.ns = int(NOON.timestamp()) * SECOND_NS
        self.clock = SystemClock(lambda: self.ns)

    def hear(self, ahead: timedelta, *, within: timedelta = timedelta(0)) -> None:
        """The store says a time that is so much ahead of the machine's, and takes a while to say it."""
        asked, half = self.ns, within / 2
        self.ns += int(within.total_seconds() * SECOND_NS)
        self.clock.follow(NOON + half + ahead, asked, self.ns)


@pytest.mark.parametrize("ahead", [timedelta(minutes=3), timedelta(minutes=-3), timedelta(days=400)])
def test_the_store_counts_where_they_differ(ahead: timedelta, caplog: pytest.LogCaptureFixture) -> None:
    machine = Machine()

    with caplog.at_level(logging.WARNING):
        machine.hear(ahead)
        machine.hear(ahead)

    assert machine.clock.now() == NOON + ahead
    assert machine.clock.now_ns() - machine.ns == ahead // timedelta(microseconds=1) * 1000
    assert [("behind" in line.message, "ahead of" in line.message) for line in caplog.records] == [
        (ahead > timedelta(0), ahead < timedelta(0))
    ]


def test_a_little_is_left_alone() -> None:
    machine = Machine()

    machine.hear(timedelta(milliseconds=200))
    assert machine.clock.now() == NOON

    machine.hear(timedelta(seconds=2), within=timedelta(seconds=4))
    assert machine.clock.now() == NOON + timedelta(seconds=4)


def test_a_machine_that_was_set_counts_again() -> None:
    machine = Machine()
    machine.hear(timedelta(minutes=3))

    machine.hear(timedelta(milliseconds=100))

    assert machine.clock.now() == NOON
    assert machine.clock.now_ns == machine.clock.machine_ns
