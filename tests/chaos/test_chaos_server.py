"""The short form of the chaos test of the server: `holdfast serve` is killed under load; the long form is `make chaos`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.chaos.server_chaos import server_chaos


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.service("postgres"))])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'served.db'}"
    url: str = request.getfixturevalue("fresh_postgres")
    return url


@pytest.mark.timeout(300)
async def test_a_killed_server_loses_nothing_and_does_nothing_twice(database: str) -> None:
    report = await server_chaos(database, kills=2, customers=20)

    assert report.sound, report
    assert report.kills == 2
    assert report.acknowledged >= 40
