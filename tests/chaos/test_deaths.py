"""A process dies between any two commits of an order's life; the long form, every point on every store, is `make chaos`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.chaos.crash_points import died_and_went_on


@pytest.mark.parametrize(
    ("point", "number"),
    [("commit.begin", 2), *(("commit.done", number) for number in range(1, 14, 3)), ("claim.taken", 3)],
)
async def test_another_goes_on_where_one_died(tmp_path: Path, point: str, number: int) -> None:
    died, broken = await died_and_went_on(f"sqlite:///{tmp_path / 'life.db'}", point, number, tmp_path / "ledger")

    assert died
    assert not broken
