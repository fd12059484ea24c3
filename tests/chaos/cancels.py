"""The long form of the cancel test: on every durable store, sagas are canceled by another node while workers are killed."""

from __future__ import annotations

import asyncio
from typing import Any

from tests.chaos.every_store import every_store
from tests.support.chaos.cancel_chaos import cancel_chaos


def cancels_row(sagas: int, kills: int) -> dict[str, Any]:
    """One row for chaos.json."""
    with every_store() as stores:
        rows = {
            kind: asyncio.run(cancel_chaos(url, folder, sagas=sagas, kills=kills))
            for kind, (url, folder) in stores.items()
        }
    broken = [f"{kind}: {each}" for kind, row in rows.items() for each in row["broken"]]
    figures = {name: sum(row[name] for row in rows.values()) for name in ("sagas", "kills", "canceled", "finished")}
    return {**figures, "stores": list(rows), "sound": not broken, "broken": broken}
