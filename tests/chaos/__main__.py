"""The long form of the chaos tests: `make chaos`, or `make chaos PARTS="sqlite cluster"` for some of its parts.

Each part that has run is written to benchmarks/results/chaos.json at once, with its commit, time and load; the other parts
stay as they are there. What was lost, happened twice or does not fit is named, and the exit code is 1.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import traceback
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Any

from holdfast import __version__
from tests.chaos.cancels import cancels_row
from tests.chaos.cluster import cluster_row
from tests.chaos.deaths import deaths_row
from tests.chaos.deploys import deploys_row
from tests.chaos.features import features_row
from tests.chaos.matrix import matrix_row
from tests.chaos.order import order_row
from tests.chaos.served import server_row
from tests.chaos.stores import LONG, store_row
from tests.chaos.wide import wide_row
from tests.support.services.availability import ServiceMissing, is_required

RESULTS = Path(__file__).resolve().parents[2] / "benchmarks" / "results" / "chaos.json"
NAMED_MAX = 20
"""Findings of one part that are kept in the file; all of them are printed."""

Row = dict[str, Any]
Part = Callable[[], Row]
"""Gives a row with `sound` and what is `broken`, by name. Raises `ServiceMissing`."""

PARTS: dict[str, Part] = {
    **{store: partial(store_row, store) for store in LONG},
    "server": server_row,
    "deaths": deaths_row,
    "deploys": deploys_row,
    "cluster": partial(cluster_row, 2_000, 60),
    "cancels": partial(cancels_row, 300, 30),
    "features": partial(features_row, 60, 20),
    "matrix": matrix_row,
    "order": order_row,
    "wide": wide_row,
}
SERVICES = {
    "postgresql": "postgres",
    "server": "postgres",
    "deaths": "postgres",
    "deploys": "postgres",
    "cluster": "rabbitmq",
}
"""The service that a part cannot do without, where it has another name."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", default=[], help=f"any of {', '.join(PARTS)}; all if none is named")
    asked = parser.parse_args().parts or list(PARTS)
    unknown = [name for name in asked if name not in PARTS]
    if unknown:
        parser.error(f"there is no part {', '.join(unknown)}; there are {', '.join(PARTS)}")
    failed = [name for name in asked if not _ran(name)]
    if failed:
        _say(f"chaos: NOT sound: {', '.join(failed)}")
    return 1 if failed else 0


def _ran(name: str) -> bool:
    """Whether the part is sound, or cannot be run here."""
    begun = monotonic()
    _say(f"chaos: {name} …")
    try:
        row = PARTS[name]()
    except ServiceMissing as missing:
        _say(f"chaos: {name} is left out: {missing}")
        return not is_required(SERVICES.get(name, name))
    except Exception as error:  # noqa: BLE001 - the other parts are still to be run; this one is told and fails the run
        traceback.print_exc()
        row = {"sound": False, "broken": [f"{type(error).__name__}: {error}"]}
    broken, row["broken"] = row["broken"], row["broken"][:NAMED_MAX]
    _write(name, row | {"measured": _stamp(monotonic() - begun)})
    _say(f"chaos: {name} {'sound' if row['sound'] else 'NOT SOUND'} {json.dumps(_figures(row))}")
    for finding in broken:
        _say(f"  {name}: {finding}")
    return bool(row["sound"])


def _figures(row: Row) -> Row:
    return {key: value for key, value in row.items() if isinstance(value, int | float)}


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def _stamp(seconds: float) -> Row:
    return {
        "commit": _git("rev-parse", "--short=12", "HEAD") + ("+" if _git("status", "--porcelain", "-uno") else ""),
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
        "seconds": round(seconds),
        "load": round(os.getloadavg()[0], 2),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "holdfast": __version__,
        "python": platform.python_version(),
    }


def _git(*arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=RESULTS.parent, capture_output=True, text=True, check=False)
    return done.stdout.strip()


def _write(name: str, row: Row) -> None:
    """Beside what is there: a whole run takes long, and may be done in pieces."""
    document: Row = json.loads(RESULTS.read_text()) if RESULTS.exists() else {"stores": {}}
    (document["stores"] if name in LONG else document)[name] = row
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    RESULTS.write_text(json.dumps(document, indent=2) + "\n")


if __name__ == "__main__":
    sys.exit(main())
