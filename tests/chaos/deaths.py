"""An order's process dies at every place of its life, one after the other, on SQLite and on PostgreSQL."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from holdfast.testing.one_life import died_and_went_on
from tests.chaos.stores import Opened, postgresql, sqlite

POINTS = ("commit.begin", "commit.done", "claim.taken")
AT_ONCE = 2
LIVES_MAX = 60
"""Of one point: a life that is longer does not end."""


def deaths_row() -> dict[str, Any]:
    """One row for chaos.json. Raises `ServiceMissing`."""
    with sqlite() as opened:
        on_sqlite, broken = _all_points(opened)
    with postgresql() as opened:
        on_postgresql, more = _all_points(opened)
    found = [*(f"sqlite {each}" for each in broken), *(f"postgresql {each}" for each in more)]
    figures = {"deaths_on_sqlite": on_sqlite, "deaths_on_postgresql": on_postgresql}
    return {**figures, "sound": not found, "broken": found}


def _all_points(opened: Opened) -> tuple[int, list[str]]:
    deaths, broken = 0, []
    for point in POINTS:
        died, wrong = asyncio.run(_every_time(opened[0], point))
        deaths += died
        broken += wrong
    return deaths, broken


async def _every_time(database: Callable[[], str], point: str) -> tuple[int, list[str]]:
    """The first time that the point is reached, the second … until a life ends before that."""
    broken: list[str] = []
    for first in range(1, LIVES_MAX + 1, AT_ONCE):
        numbers = range(first, first + AT_ONCE)
        lives = await asyncio.gather(*(_one_life(database(), point, number) for number in numbers))
        for number, (died, wrong) in zip(numbers, lives, strict=True):
            broken += [f"{point}:{number} {each}" for each in wrong]
            if not died:
                return number - 1, broken
    return LIVES_MAX, [*broken, f"{point}: {LIVES_MAX} deaths, and no end"]


async def _one_life(url: str, point: str, number: int) -> tuple[bool, list[str]]:
    with TemporaryDirectory() as folder:
        try:
            return await died_and_went_on(url, point, number, Path(folder))
        except TimeoutError as error:
            return True, [f"did not end: {error}"]
