"""The long form of the order test: on SQLite and, if it is there, on PostgreSQL and MySQL."""

from __future__ import annotations

import asyncio
from typing import Any

from tests.chaos.every_store import every_store
from tests.support.chaos.order_chaos import order_chaos

INSTANCES, EVENTS, KILLS = 60, 100, 30


def order_row() -> dict[str, Any]:
    """One row for chaos.json."""
    kills, events, broken = 0, 0, list[str]()
    with every_store() as stores:
        for kind, (url, _) in stores.items():
            report = asyncio.run(order_chaos(url, instances=INSTANCES, events=EVENTS, kills=KILLS))
            kills, events = kills + report.kills, events + report.events
            broken += [f"{kind}: {each}" for each in report.broken]
    return {"kills": kills, "events": events, "stores": list(stores), "sound": not broken, "broken": broken}
