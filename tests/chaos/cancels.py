"""The long form of the cancel test: sagas on PostgreSQL, canceled by another node while a worker is killed every second."""

from __future__ import annotations

import asyncio
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.support.chaos.cancel_chaos import cancel_chaos
from tests.support.services.postgresql import postgres_database


def cancels_row(sagas: int, kills: int) -> dict[str, Any]:
    """One row for chaos.json. Raises `ServiceMissing`."""
    with postgres_database() as url, TemporaryDirectory() as folder:
        return asyncio.run(cancel_chaos(url, Path(folder), sagas=sagas, kills=kills))
