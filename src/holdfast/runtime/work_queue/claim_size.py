"""How many rows one claim takes: as many as are done within a moment.

A claim holds its rows until all of them are committed. Of rows that are done in microseconds it should hold many; of rows
that take their time only a few, so that other nodes find some too, and nobody waits long behind them. What counts is the
processor's time: while the store commits, another claim is run.
"""

from __future__ import annotations

from datetime import timedelta

AIM = timedelta(milliseconds=50)
"""What a claim should take of the processor."""
FEWEST, FIRST, MOST = 8, 64, 256
_KEPT = 0.5
"""The share of what was known before: the next kind of rows is felt after a few claims."""


class Pace:
    def __init__(self) -> None:
        self.rows = FIRST
        """Of the next claim."""
        self._each: float | None = None
        """Seconds that a row takes."""

    def did(self, rows: int, seconds: float) -> None:
        """So many took so long, all in all."""
        if not rows:
            return
        each = seconds / rows
        self._each = each if self._each is None else _KEPT * self._each + (1 - _KEPT) * each
        fit = AIM.total_seconds() / self._each if self._each > 0 else MOST
        self.rows = round(min(max(fit, FEWEST), MOST))
