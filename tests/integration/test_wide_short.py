"""The short form of the test of wide instances: 250 branches each, 2 kills; the long form is `make chaos`."""

from __future__ import annotations

import pytest

from tests.support.chaos.wide_chaos import wide_chaos

DURABLE = [
    "sqlite",
    pytest.param("postgresql", marks=pytest.mark.service("postgres")),
    pytest.param("mysql", marks=pytest.mark.service("mysql")),
]


@pytest.mark.timeout(240)
@pytest.mark.parametrize("store_url", DURABLE, indirect=True)
async def test_every_branch_counts_once_while_workers_are_killed(store_url: str) -> None:
    report = await wide_chaos(store_url, width=250, kills=2)

    assert report.sound, report
    assert report.kills == 2
