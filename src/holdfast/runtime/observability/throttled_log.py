"""A log for warnings that may repeat a thousand times a second: one line at first, then at most one per minute with a count."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

logger = logging.getLogger("holdfast")

INTERVAL_SECONDS = 60.0


class ThrottledLog:
    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._logged_at: float | None = None
        self._suppressed = 0

    def warning(self, message: str, *values: object, because: BaseException | None = None) -> None:
        now = self._clock()
        if self._logged_at is not None and now - self._logged_at < INTERVAL_SECONDS:
            self._suppressed += 1
            return
        if self._suppressed:
            message = f"{message} ({self._suppressed} more since the last time)"
        self._logged_at, self._suppressed = now, 0
        logger.warning(message, *values, exc_info=because)
