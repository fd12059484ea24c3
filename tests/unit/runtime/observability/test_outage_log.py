"""What an operator reads of a store that goes away and comes back."""

from __future__ import annotations

import logging

import pytest

from holdfast.errors import StoreError, StoreUnavailable
from holdfast.runtime.observability.outage_log import RECOVERED_SECONDS, REPEAT_SECONDS, OutageLog

GONE = StoreUnavailable("PostgreSQL at db:5432/shop does not answer. Check that it runs.")


class Hand:
    """A clock that the test moves."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Hand:
    return Hand()


@pytest.fixture
def outage(clock: Hand, caplog: pytest.LogCaptureFixture) -> OutageLog:
    caplog.set_level(logging.DEBUG, "holdfast")
    return OutageLog("a", clock)


def said(caplog: pytest.LogCaptureFixture) -> list[str]:
    lines = [record for record in caplog.records if record.levelno >= logging.WARNING]
    assert not any(record.exc_info for record in lines)
    return [record.getMessage() for record in lines]


def test_an_outage_is_told_once_then_once_a_minute_then_its_end(
    outage: OutageLog, clock: Hand, caplog: pytest.LogCaptureFixture
) -> None:
    for _ in range(150):
        outage.warning("the work table could not be read", because=GONE)
        clock.now += 1.0
    outage.answered()
    clock.now += RECOVERED_SECONDS
    outage.answered()
    outage.answered()

    first, *still, back = said(caplog)
    assert first.startswith(f"The store is unavailable: {GONE} Until it is back, node a takes no work")
    assert still == [f"The store has been unavailable for {minutes} min 0 s: {GONE}" for minutes in (1, 2)]
    assert back == "The store is back after 2 min 29 s; node a continues."


def test_what_failed_is_told_with_its_traceback_to_who_looks_for_it(
    outage: OutageLog, caplog: pytest.LogCaptureFixture
) -> None:
    try:
        raise GONE
    except StoreUnavailable:
        outage.warning("the task '%s' could not be claimed", "tidy")

    record = next(record for record in caplog.records if record.levelno == logging.DEBUG)
    assert record.getMessage() == "the task 'tidy' could not be claimed"
    assert record.exc_info


def test_some_answers_while_others_fail_are_no_end(
    outage: OutageLog, clock: Hand, caplog: pytest.LogCaptureFixture
) -> None:
    """A disk that is full: reads go on, commits do not."""
    for _ in range(int(REPEAT_SECONDS) - 1):
        outage.warning("a commit could not be written yet", because=GONE)
        outage.answered()
        clock.now += 1.0

    assert len(said(caplog)) == 1


def test_any_other_trouble_is_told_as_it_is(outage: OutageLog, caplog: pytest.LogCaptureFixture) -> None:
    outage.warning("the inbox could not be swept", because=StoreError("A row is odd."))
    outage.answered()

    (record,) = caplog.records
    assert (record.levelno, record.getMessage()) == (logging.WARNING, "the inbox could not be swept")
    assert record.exc_info
