"""The short form of the cluster test: 100 orders, 5 kills; the long form is `make chaos`."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from tests.support.chaos.cluster_chaos import cluster_chaos


@pytest.mark.timeout(240)
@pytest.mark.parametrize("kind", ["sqlite", pytest.param("postgresql", marks=pytest.mark.service("postgres"))])
async def test_killed_workers_lose_nothing_and_do_nothing_twice(
    kind: str, tmp_path: Path, servers: dict[str, str]
) -> None:
    url = f"sqlite:///{tmp_path / 'cluster.db'}" if kind == "sqlite" else servers["postgresql"]
    report = await cluster_chaos(
        url, tmp_path / "ledger", instances=100, kills=5, every=timedelta(milliseconds=700), alive=timedelta(seconds=3)
    )

    assert report.sound, (report.broken, report)
    assert report.kills == 5
