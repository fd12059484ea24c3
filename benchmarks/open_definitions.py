"""Opening an application again with 10,000 definition files that did not change."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.figures import Effort, Figure, Group
from benchmarks.store_databases import POSTGRES, SQLITE, database
from holdfast import Holdfast

COUNT = 10_000
OPENED = 3

FIGURES = (
    Figure("open.10k_definitions_s", f"CPU seconds to open with {COUNT:,} unchanged definition files, SQLite", goal=1),
    Figure("open.first_ms", "CPU ms to publish one definition file at the first start, SQLite"),
    Figure(
        "open.10k_definitions_s.pg",
        f"CPU seconds to open with {COUNT:,} unchanged definition files, PostgreSQL",
        goal=1,
    ),
    Figure("open.first_ms.pg", "CPU ms to publish one definition file at the first start, PostgreSQL"),
)


def document(number: int) -> dict[str, Any]:
    steps = [
        {"type": "SetVariable", "inputs": {"variable": "total", "value": {"$python": f"total + {number}"}}},
        {"type": "WriteLine", "inputs": {"text": {"$python": "str(total)"}}},
    ]
    return {
        "id": f"definition-{number}",
        "name": f"Definition {number}",
        "variables": [{"name": "total", "type": "integer", "default": 0}],
        "root": {"type": "Sequence", "activities": steps},
    }


def measure(effort: Effort) -> Mapping[str, float]:
    found: dict[str, float] = {}
    with TemporaryDirectory(prefix="holdfast-bench-") as name:
        folder = Path(name)
        for number in range(COUNT):
            (folder / f"{number}.json").write_text(json.dumps(document(number)), encoding="utf-8")
        for kind, suffix in ((SQLITE, ""), (POSTGRES, ".pg")):
            with database(kind) as place:
                first = asyncio.run(_opened(place.url, folder))
                again = min(asyncio.run(_opened(place.url, folder)) for _ in range(OPENED))
            found |= {f"open.10k_definitions_s{suffix}": again, f"open.first_ms{suffix}": first / COUNT * 1000}
    return found


async def _opened(url: str, folder: Path) -> float:
    began = time.process_time()
    async with Holdfast(store=url, workflows=[folder]):
        return time.process_time() - began


GROUP = Group("open", FIGURES, measure)
