"""The short form of the cluster test: 100 orders, 5 kills; the long form is `make chaos`."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from tests.support.chaos.cluster_chaos import cluster_chaos


@pytest.mark.timeout(240)
@pytest.mark.parametrize(
    "store_url",
    [
        "sqlite",
        pytest.param("postgresql", marks=pytest.mark.service("postgres")),
        pytest.param("mysql", marks=pytest.mark.service("mysql")),
    ],
    indirect=True,
)
async def test_killed_workers_lose_nothing_and_do_nothing_twice(store_url: str, tmp_path: Path) -> None:
    report = await cluster_chaos(
        store_url,
        tmp_path / "ledger",
        instances=100,
        kills=5,
        every=timedelta(milliseconds=700),
        alive=timedelta(seconds=3),
    )

    assert report.sound, (report.broken, report)
    assert report.kills == 5
