"""Bad deployments lose nothing (rules H10 and H15): the short form; `make chaos PARTS=deploys` runs all of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.deploys.rig import deploy_and_roll_back

CASES = [
    ("activity renamed", True),
    ("field required", True),
    ("class renamed", False),
]


@pytest.mark.parametrize(("bad", "kill"), CASES)
async def test_sqlite(tmp_path: Path, bad: str, kill: bool) -> None:
    assert await deploy_and_roll_back(f"sqlite:///{tmp_path / 'shop.db'}", tmp_path, bad, kill=kill) == []


@pytest.mark.parametrize(("bad", "kill"), CASES)
async def test_postgresql(fresh_postgres: str, tmp_path: Path, bad: str, kill: bool) -> None:
    assert await deploy_and_roll_back(fresh_postgres, tmp_path, bad, kill=kill) == []


@pytest.mark.parametrize(("bad", "kill"), CASES)
async def test_mysql(fresh_mysql: str, tmp_path: Path, bad: str, kill: bool) -> None:
    assert await deploy_and_roll_back(fresh_mysql, tmp_path, bad, kill=kill) == []
