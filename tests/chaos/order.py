"""The long form of the order test: on SQLite and, if it is there, on PostgreSQL and MySQL."""

from __future__ import annotations

import asyncio
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.support.chaos.order_chaos import order_chaos
from tests.support.services.availability import ServiceMissing
from tests.support.services.mysql import mysql_database
from tests.support.services.postgresql import postgres_database

INSTANCES, EVENTS, KILLS = 60, 100, 30


def order_row() -> dict[str, Any]:
    """One row for chaos.json."""
    kills, events, broken = 0, 0, list[str]()
    with TemporaryDirectory() as folder, ExitStack() as stack:
        urls = {"sqlite": f"sqlite:///{Path(folder) / 'order.db'}"}
        for kind, make in (("postgresql", postgres_database), ("mysql", mysql_database)):
            try:
                urls[kind] = stack.enter_context(make())
            except ServiceMissing:
                continue
        for kind, url in urls.items():
            report = asyncio.run(order_chaos(url, instances=INSTANCES, events=EVENTS, kills=KILLS))
            kills, events = kills + report.kills, events + report.events
            broken += [f"{kind}: {each}" for each in report.broken]
    return {"kills": kills, "events": events, "stores": list(urls), "sound": not broken, "broken": broken}
