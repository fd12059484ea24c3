"""Rate limit of routes that evaluate or compile text of their caller, per principal and process.

A principal has a bucket of tokens that fills up steadily. A request takes one; without one it is refused with 429 and the
time until the next token.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from fastapi import Depends
from starlette.requests import HTTPConnection

from holdfast.errors import TooManyRequests
from holdfast.server.security import admit, marked

BURST = 60
PER_SECOND = 10.0
PRINCIPALS_MAX = 10_000
"""Principals whose bucket is kept; a bucket that is forgotten is full again."""


class EvaluationLimit:
    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()
        """Principal → tokens, and when they were counted."""

    def take(self, principal: str) -> None:
        """Raises `TooManyRequests`."""
        now = self._clock()
        tokens, counted = self._buckets.pop(principal, (float(BURST), now))
        tokens = min(BURST, tokens + (now - counted) * PER_SECOND)
        taken = tokens >= 1
        self._buckets[principal] = (tokens - 1 if taken else tokens, now)
        if len(self._buckets) > PRINCIPALS_MAX:
            self._buckets.popitem(last=False)
        if not taken:
            raise TooManyRequests(timedelta(seconds=(1 - tokens) / PER_SECOND))


def evaluates(permission: str) -> Any:
    """A dependency: the caller needs this permission, and may not ask too often; returns the `Principal`."""

    async def ask(connection: HTTPConnection) -> Any:
        principal = await admit(connection, permission)
        limit: EvaluationLimit = connection.app.state.evaluation_limit
        limit.take(f"{principal.tenant}:{principal.id}")
        return principal

    return Depends(marked(ask, permission))
