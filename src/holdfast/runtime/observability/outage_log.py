"""What the log says while the store does not answer: that it is away, once a minute that it still is, and that it is back.

Every background service of a node fails then, each in its own words and again and again. Those words, with their tracebacks, are
for whoever looks for a fault of ours: they are logged at debug level. Any other trouble of a service is told as it is.
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
"""What a store says that cannot be used now. It could be when this node began: a password that was changed, rights that were
taken, tables that are being restored pass as a broken line does, and are nobody's fault who asked meanwhile."""
EVERY = 60.0
"""Seconds between two lines about the same outage."""
QUIET = 5.0
"""Seconds without a failure until it is over: some questions are answered while others still fail (a full disk)."""


class Outage:
    """Of one node's store. The heart tells from a thread of its own."""

    def __init__(self, node: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._node = node
        self._clock = clock
        self._lock = threading.Lock()
        self._since: float | None = None
        self._failed = 0.0
        self._said = 0.0

    def warn(self, message: str, *values: object, because: BaseException | None = None) -> None:
        """Something could not be done, because of the exception that is being handled, or of this one."""
        error = because or sys.exception()
        if not isinstance(error, AWAY):
            logger.warning(message, *values, exc_info=error)
            return
        logger.debug(message, *values, exc_info=error)
        with self._lock:
            now = self._failed = self._clock()
            if self._since is None:
                self._since = self._said = now
                logger.warning(
                    "The store is away: %s Until it is back, node %s takes no work and begins nothing; effects that run go "
                    "on, and their results are kept. Nothing that was committed is lost.",
                    error,
                    self._node,
                )
            elif now - self._said >= EVERY:
                self._said = now
                logger.warning("The store has been away for %s: %s", _time(now - self._since), error)

    def answered(self) -> None:
        """The store did what it was asked."""
        if self._since is None:
            return
        with self._lock:
            if self._since is not None and self._clock() - self._failed >= QUIET:
                logger.warning(
                    "The store is back after %s; node %s goes on.", _time(self._failed - self._since), self._node
                )
                self._since = None


def _time(seconds: float) -> str:
    minutes, left = divmod(round(seconds), 60)
    return f"{minutes} min {left} s" if minutes else f"{left} s"
