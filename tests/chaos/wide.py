"""The long form of the test of wide instances: on SQLite and, if it is there, on PostgreSQL and MySQL."""

from __future__ import annotations

import asyncio
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.support.chaos.wide_chaos import wide_chaos
from tests.support.services.availability import ServiceMissing
from tests.support.services.mysql import mysql_database
from tests.support.services.postgresql import postgres_database

WIDTH, KILLS = 1_500, 30


def wide_row() -> dict[str, Any]:
    """One row for chaos.json."""
    kills, branches, broken = 0, 0, list[str]()
    with TemporaryDirectory() as folder, ExitStack() as stack:
        urls = {"sqlite": f"sqlite:///{Path(folder) / 'wide.db'}"}
        for kind, make in (("postgresql", postgres_database), ("mysql", mysql_database)):
            try:
                urls[kind] = stack.enter_context(make())
            except ServiceMissing:
                continue
        for kind, url in urls.items():
            report = asyncio.run(wide_chaos(url, width=WIDTH, kills=KILLS))
            kills, branches = kills + report.kills, branches + report.branches
            broken += [f"{kind}: {each}" for each in report.broken]
    return {"kills": kills, "branches": branches, "stores": list(urls), "sound": not broken, "broken": broken}
