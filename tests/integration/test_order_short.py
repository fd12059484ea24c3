"""The short form of the order test: 12 instances, 3 kills; the long form is `make chaos`."""

from __future__ import annotations

import pytest

from tests.support.chaos.order_chaos import order_chaos

DURABLE = [
    "sqlite",
    pytest.param("postgresql", marks=pytest.mark.service("postgres")),
    pytest.param("mysql", marks=pytest.mark.service("mysql")),
]


@pytest.mark.timeout(240)
@pytest.mark.parametrize("store_url", DURABLE, indirect=True)
async def test_events_keep_their_order_while_workers_are_killed(store_url: str) -> None:
    report = await order_chaos(store_url, instances=12, events=20, kills=3)

    assert report.sound, report
    assert report.kills == 3
