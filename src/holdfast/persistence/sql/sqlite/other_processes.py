"""Detection of other processes on the same file. If there are any, the writer pauses after each commit (M15)."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from datetime import datetime
from time import monotonic

from holdfast.persistence.sql.tables import micros

_POLL_INTERVAL = 0.25
_ALIVE = "select boot from hf_node where state <> 'left' and heartbeat + time_to_live > ?"


class OtherProcesses:
    def __init__(self, connection: sqlite3.Connection, now: Callable[[], datetime]) -> None:
        self._connection = connection
        self._now = now
        self._looked = float("-inf")
        self._found = False
        self.own: set[int] = set()
        """Boots of nodes that registered through this store."""

    def any(self) -> bool:
        """Whether another process has a live node. The writer calls it after each transaction; the result is cached."""
        if monotonic() - self._looked > _POLL_INTERVAL:
            self._looked = monotonic()
            try:
                rows = self._connection.execute(_ALIVE, (micros(self._now()),)).fetchall()
            except sqlite3.OperationalError:  # The file is locked, so there are other processes.
                return True
            self._found = any(row[0] not in self.own for row in rows)
        return self._found
