"""Connection events in the log: one line for an outage, then one a minute, and no records of the driver."""

from __future__ import annotations

import logging

import pytest

from holdfast.dispatch.connection_events import REMINDER_INTERVAL, ConnectionEvents, demote_driver_logs


def test_an_outage_is_logged_once_a_minute(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr("holdfast.dispatch.connection_events.monotonic", lambda: now)
    events = ConnectionEvents("rabbitmq")
    for second in range(int(REMINDER_INTERVAL * 2) + 1):
        now = float(second)
        events.disconnected(ConnectionError("refused"))

    said = [record.getMessage() for record in caplog.records]
    assert said == [
        "rabbitmq: connection lost (ConnectionError: refused); reconnecting",
        "rabbitmq: still no connection (ConnectionError: refused)",
        "rabbitmq: still no connection (ConnectionError: refused)",
    ]


def test_records_of_a_driver_are_lowered_to_debug(caplog: pytest.LogCaptureFixture) -> None:
    inner = logging.getLogger("some_driver.connection")
    demote_driver_logs("some_driver")
    inner.warning("error when creating transport")
    assert not caplog.records

    with caplog.at_level(logging.DEBUG, "some_driver"):
        inner.warning("error when creating transport")
    assert [record.levelname for record in caplog.records] == ["DEBUG"]
