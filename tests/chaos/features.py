"""The long form of the feature test, on every durable store."""

from __future__ import annotations

import asyncio
from typing import Any

from tests.chaos.every_store import every_store
from tests.support.chaos.feature_chaos import feature_chaos


def features_row(rounds: int, kills: int) -> dict[str, Any]:
    """One row for chaos.json."""
    with every_store() as stores:
        rows = {
            kind: asyncio.run(feature_chaos(url, folder, rounds=rounds, kills=kills))
            for kind, (url, folder) in stores.items()
        }
    broken = [f"{kind}: {each}" for kind, row in rows.items() for each in row["broken"]]
    figures = {name: sum(row[name] for row in rows.values()) for name in ("instances", "kills")}
    return {**figures, "stores": list(rows), "sound": not broken, "broken": broken}
