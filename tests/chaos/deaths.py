"""An order's process dies at every place of its life, one after the other, on SQLite and on PostgreSQL."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.chaos.stores import Opened, postgresql, sqlite
from tests.support.chaos.crash_points import died_and_went_on

STORES = {"sqlite": sqlite, "postgresql": postgresql}
POINTS = ("commit.begin", "commit.done", "claim.taken")
LIVES_MAX = 60
"""Of one point: a life that is longer does not end."""


def deaths_row() -> dict[str, Any]:
    """One row for chaos.json. Raises `ServiceMissing`."""
    # A process for each store: whoever goes on does so here, and its ledger is in the environment.
    with ProcessPoolExecutor(len(STORES), mp_context=get_context("spawn")) as pool:
        told = dict(zip(STORES, pool.map(_on, STORES), strict=True))
    broken = [f"{store} {each}" for store, (_, wrong) in told.items() for each in wrong]
    return {**{f"deaths_on_{store}": died for store, (died, _) in told.items()}, "sound": not broken, "broken": broken}


def _on(store: str) -> tuple[int, list[str]]:
    with STORES[store]() as opened:
        return _all_points(opened)


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
    for number in range(1, LIVES_MAX + 1):
        with TemporaryDirectory() as folder:
            try:
                died, wrong = await died_and_went_on(database(), point, number, Path(folder))
            except TimeoutError as error:
                died, wrong = True, [f"did not end: {error}"]
        broken += [f"{point}:{number} {each}" for each in wrong]
        if not died:
            return number - 1, broken
    return LIVES_MAX, [*broken, f"{point}: {LIVES_MAX} deaths, and no end"]
