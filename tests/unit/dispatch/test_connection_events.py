"""What a transport says while its broker is away: one line, then one a minute; its driver says nothing."""

from __future__ import annotations

import logging

import pytest

from holdfast.dispatch.connection_events import REMINDER_INTERVAL, ConnectionEvents, demote_driver_logs


def test_a_broker_that_stays_away_is_mentioned_once_a_minute(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 0.0
    monkeypatch.setattr("holdfast.dispatch.connection_events.monotonic", lambda: now)
    events = ConnectionEvents("rabbitmq")
    for second in range(int(REMINDER_INTERVAL * 2) + 1):
        now = float(second)
        events.disconnected(ConnectionError("refused"))

    said = [record.getMessage() for record in caplog.records]
    assert said == [
        "rabbitmq: the connection is lost (ConnectionError: refused); trying again",
        "rabbitmq: still no connection (ConnectionError: refused)",
        "rabbitmq: still no connection (ConnectionError: refused)",
    ]


def test_what_a_driver_says_is_a_detail(caplog: pytest.LogCaptureFixture) -> None:
    inner = logging.getLogger("some_driver.connection")
    demote_driver_logs("some_driver")
    inner.warning("error when creating transport")
    assert not caplog.records

    with caplog.at_level(logging.DEBUG, "some_driver"):
        inner.warning("error when creating transport")
    assert [record.levelname for record in caplog.records] == ["DEBUG"]
