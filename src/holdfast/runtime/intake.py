"""The intake of this node: whether it takes new work, all of it or one row at a time.

After a crash in the cluster a node is in quarantine for a minute (rule H15): it takes one row at a time and counts each
attempt in the store before it runs the row, so that work which kills its process is found.
"""

from __future__ import annotations

import time
from datetime import timedelta

QUARANTINE_TIME = timedelta(seconds=60)


class Intake:
    def __init__(self) -> None:
        self.paused = False
        """No new work is taken; work in hand continues."""
        self._quarantine_until = 0.0

    @property
    def in_quarantine(self) -> bool:
        return time.monotonic() < self._quarantine_until

    def start_quarantine(self) -> None:
        self._quarantine_until = time.monotonic() + QUARANTINE_TIME.total_seconds()
