"""A warning that may come a thousand times a second: said once, then at most once a minute, with how often it was not said."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

logger = logging.getLogger("holdfast")

EVERY = 60.0
"""Seconds."""


class Sparing:
    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._said: float | None = None
        self._unsaid = 0

    def warn(self, message: str, *values: object, because: BaseException | None = None) -> None:
        now = self._clock()
        if self._said is not None and now - self._said < EVERY:
            self._unsaid += 1
            return
        if self._unsaid:
            message = f"{message} ({self._unsaid} more like this since the last time)"
        self._said, self._unsaid = now, 0
        logger.warning(message, *values, exc_info=because)
