"""The server's chaos test, long: `holdfast serve` killed under load, on SQLite and on PostgreSQL, which crashes too."""

from __future__ import annotations

import asyncio
from typing import Any

from tests.chaos.stores import postgresql, sqlite, summed
from tests.support.chaos.server_chaos import server_chaos

KILLS = 15
"""On each store."""
CUSTOMERS = 300


def server_row() -> dict[str, Any]:
    """One row for chaos.json. Raises `ServiceMissing`."""
    with sqlite() as (database, _):
        on_file = asyncio.run(server_chaos(database(), kills=KILLS, customers=CUSTOMERS))
    with postgresql() as (database, crash):
        on_server = asyncio.run(server_chaos(database(), kills=KILLS, customers=CUSTOMERS, crash_database=crash))
    return summed(on_sqlite=on_file, on_postgresql=on_server)
