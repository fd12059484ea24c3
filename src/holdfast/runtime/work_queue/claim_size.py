"""The number of rows of the next claim: as many as run within 50 ms of processor time.

A claim holds its rows until all of them are committed. It should hold many fast rows, but few slow ones, so that other nodes
find rows too and no row waits long behind others. Processor time is measured, since another claim runs while the store commits.
"""

from __future__ import annotations

from datetime import timedelta

CLAIM_TIME = timedelta(milliseconds=50)
"""Processor time that a claim should take."""
ROWS_MIN, ROWS_FIRST, ROWS_MAX = 8, 64, 256
_SMOOTHING = 0.5
"""Weight of earlier measurements."""


class ClaimSize:
    def __init__(self) -> None:
        self.rows = ROWS_FIRST
        """Size of the next claim."""
        self._seconds_per_row: float | None = None

    def measured(self, rows: int, seconds: float) -> None:
        """A claim of that many rows took that much processor time."""
        if not rows:
            return
        latest, known = seconds / rows, self._seconds_per_row
        each = self._seconds_per_row = latest if known is None else _SMOOTHING * known + (1 - _SMOOTHING) * latest
        fit = CLAIM_TIME.total_seconds() / each if each > 0 else ROWS_MAX
        self.rows = round(min(max(fit, ROWS_MIN), ROWS_MAX))
