"""Environment of child processes that import `tests.support`: the repository root is on their path."""

from __future__ import annotations

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def child_environment(**variables: str) -> dict[str, str]:
    """The environment of this process, with the repository root first on PYTHONPATH and with `variables`."""
    path = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path), **variables}
