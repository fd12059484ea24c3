"""Bad deployments on every database: each kind of bad code, after drained and after killed workers."""

from __future__ import annotations

import asyncio
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.chaos.stores import Opened, sqlite
from tests.support.deploys.rig import BAD, deploy_and_roll_back
from tests.support.services.mysql import mysql_database
from tests.support.services.postgresql import postgres_database


def deploys_row() -> dict[str, Any]:
    """One row for chaos.json. Raises `ServiceMissing`."""
    broken: list[str] = []
    counts: dict[str, int] = {}
    for store in ("sqlite", "postgresql", "mysql"):
        for bad in BAD:
            for kill in (True, False):
                name = f"{store}: {bad}, {'killed' if kill else 'drained'}"
                broken += [f"{name}: {wrong}" for wrong in _deployed(store, bad, kill=kill)]
                counts[f"deploys_on_{store}"] = counts.get(f"deploys_on_{store}", 0) + 1
    return {**counts, "sound": not broken, "broken": broken}


def _deployed(store: str, bad: str, *, kill: bool) -> list[str]:
    try:
        if store == "postgresql":
            with postgres_database() as url:
                return _run(url, bad, kill=kill)
        if store == "mysql":
            with mysql_database() as url:
                return _run(url, bad, kill=kill)
        with sqlite() as opened:
            return _run(_database(opened), bad, kill=kill)
    except AssertionError as error:  # A wait that did not end; the other deployments still run.
        return [str(error)]


def _database(opened: Opened) -> str:
    return opened[0]()


def _run(url: str, bad: str, *, kill: bool) -> list[str]:
    with TemporaryDirectory() as folder:
        return asyncio.run(deploy_and_roll_back(url, Path(folder), bad, kill=kill))
