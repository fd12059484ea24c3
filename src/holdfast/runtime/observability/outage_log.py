"""The log of store outages: one warning at the start, one per minute, and one at the end.

During an outage every background service of a node fails again and again. These single failures, with their tracebacks, are
logged at debug level. Errors of other kinds are logged as warnings at once.
"""

from __future__ import annotations

import logging
import sys
import threading
import time
from collections.abc import Callable

from holdfast.errors import SchemaMismatch, StoreMisconfigured, StoreUnavailable

logger = logging.getLogger("holdfast")

AWAY = (StoreUnavailable, StoreMisconfigured, SchemaMismatch)
"""Errors of a store that is unavailable now. A changed password, revoked rights or tables under restore count too: the store
worked when this node started, so they pass like a broken connection."""
REPEAT_SECONDS = 60.0
"""Pause between two lines about the same outage."""
RECOVERED_SECONDS = 5.0
"""Time without a failure after which the outage is over: some queries succeed while others still fail (a full disk)."""


class OutageLog:
    """Thread-safe: the heartbeat logs from its own thread."""

    def __init__(self, node: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._node = node
        self._clock = clock
        self._lock = threading.Lock()
        self._since: float | None = None
        self._failed = 0.0
        self._logged = 0.0

    def warning(self, message: str, *values: object, because: BaseException | None = None) -> None:
        """Log a failure, caused by the exception that is being handled or by `because`."""
        error = because or sys.exception()
        if not isinstance(error, AWAY):
            logger.warning(message, *values, exc_info=error)
            return
        logger.debug(message, *values, exc_info=error)
        with self._lock:
            now = self._failed = self._clock()
            if self._since is None:
                self._since = self._logged = now
                logger.warning(
                    "The store is unavailable: %s Until it is back, node %s takes no work and starts no effects. Running effects "
                    "continue, and their results are kept. Committed work is not lost.",
                    error,
                    self._node,
                )
            elif now - self._logged >= REPEAT_SECONDS:
                self._logged = now
                logger.warning("The store has been unavailable for %s: %s", _time(now - self._since), error)

    def answered(self) -> None:
        """The store answered."""
        if self._since is None:
            return
        with self._lock:
            if self._since is not None and self._clock() - self._failed >= RECOVERED_SECONDS:
                logger.warning(
                    "The store is back after %s; node %s continues.", _time(self._failed - self._since), self._node
                )
                self._since = None


def _time(seconds: float) -> str:
    minutes, left = divmod(round(seconds), 60)
    return f"{minutes} min {left} s" if minutes else f"{left} s"
