"""The short form of the chaos test on SQLite; the long form is `make chaos`."""

from __future__ import annotations

from pathlib import Path

from tests.support.chaos.store_chaos import chaos


async def test_killed_workers_lose_nothing_and_do_nothing_twice(tmp_path: Path) -> None:
    report = await chaos(f"sqlite:///{tmp_path / 'chaos.db'}", kills=8, bursts=800, instances=40, keys=100)

    assert report.sound, report
    assert report.kills == 8
    assert report.acknowledged >= 800
