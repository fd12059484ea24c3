"""The short form of the chaos test of the runtime; the long form is `make chaos`."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.persistence.faultpoints import POINTS
from tests.support.chaos.runtime_chaos import dies_at, runtime_chaos

DEADLY = [point for point in POINTS if point != "migrate.step"]
"""Points that a running node passes; migrations die in the store's own tests."""


async def test_killed_nodes_lose_nothing_and_do_nothing_twice(tmp_path: Path) -> None:
    report = await runtime_chaos(f"sqlite:///{tmp_path / 'chaos.db'}", kills=3, instances=24, resumes=100)

    assert report.sound, report
    assert report.kills == 3
    assert report.acknowledged >= 100


@pytest.mark.parametrize("point", DEADLY)
async def test_a_node_dies_at_each_point(tmp_path: Path, point: str) -> None:
    report = await dies_at(f"sqlite:///{tmp_path / 'chaos.db'}", f"{point}:12")

    assert report.sound, report
    assert report.kills == 1


@pytest.mark.service("postgres")
async def test_killed_nodes_on_postgresql(fresh_postgres: str) -> None:
    report = await runtime_chaos(fresh_postgres, kills=3, instances=24, resumes=100)

    assert report.sound, report
    assert report.kills == 3


@pytest.mark.parametrize("strategy", ["always", "activity_executed", "periodic:PT0.001S"])
async def test_killed_nodes_between_the_commits_of_a_strategy(tmp_path: Path, strategy: str) -> None:
    report = await runtime_chaos(
        f"sqlite:///{tmp_path / 'chaos.db'}", kills=2, instances=12, resumes=60, strategy=strategy
    )

    assert report.sound, report
    assert report.kills == 2


@pytest.mark.parametrize("number", range(11, 15))
async def test_a_node_dies_after_each_commit_that_a_strategy_adds(tmp_path: Path, number: int) -> None:
    report = await dies_at(f"sqlite:///{tmp_path / 'chaos.db'}", f"commit.done:{number}", strategy="always")

    assert report.sound, report
    assert report.kills == 1
