"""A warning that comes often is said once a minute."""

from __future__ import annotations

import pytest

from holdfast.runtime.observability.throttled_log import INTERVAL_SECONDS, ThrottledLog


def test_what_comes_often_is_said_once_a_minute_with_how_often_it_was_not(caplog: pytest.LogCaptureFixture) -> None:
    now = 0.0
    log = ThrottledLog(lambda: now)
    for number in range(4):
        log.warning("step %s could not be sent", number)
    now = INTERVAL_SECONDS
    log.warning("step %s could not be sent", 4)

    assert [record.getMessage() for record in caplog.records] == [
        "step 0 could not be sent",
        "step 4 could not be sent (3 more since the last time)",
    ]
