"""Paces the bursts of wide instances, so that their cost grows with the work and not with its square.

Each burst of an instance with thousands of branches reads and writes them all. A burst for each of its results would cost the
square of their number. After an expensive burst the instance therefore rests: jobs that arrive meanwhile wait and become one
burst. A rest ends when the waiting jobs are worth the cost of a burst, or after a limited time.
"""

from __future__ import annotations

from datetime import timedelta
from time import monotonic

from msgspec import Struct

from holdfast.model.stored import InstanceKey

FREE = timedelta(milliseconds=5)
"""A burst that takes no longer to read and write is followed by no rest."""
COST_PER_JOB = timedelta(microseconds=100)
"""The jobs of the next burst should be so many that each bears no more of its cost."""
ROWS_MAX = 500
"""A rest ends with this many jobs of claimed rows: rows in hand keep the poller from claiming others."""
REST_FACTOR = 2
"""Limit of a rest in costs of the burst: at most a third of the time goes into reading and writing."""
REST_MAX = timedelta(milliseconds=200)
WAITS_MIN = 32
"""An instance that waits for less does not rest: no burst of many jobs can follow."""

_FREE_NS = FREE // timedelta(microseconds=1) * 1_000
_PER_JOB_NS = COST_PER_JOB // timedelta(microseconds=1) * 1_000


class Rest(Struct, frozen=True):
    until: float
    """By the monotonic clock."""
    jobs: int
    """Number of waiting jobs that end the rest."""


class BurstPace(dict[InstanceKey, Rest]):
    """The instances that rest. Emptied when all rests are over: instances that have ended would stay for ever."""

    __slots__ = ("_until",)

    def __init__(self) -> None:
        super().__init__()
        self._until = 0.0
        """End of the last rest."""

    def __setitem__(self, key: InstanceKey, rest: Rest) -> None:
        self._until = max(self._until, rest.until)
        super().__setitem__(key, rest)

    def ran(self, key: InstanceKey, cost_ns: int, jobs: int, waits: int) -> None:
        """A burst of the instance with this many jobs took so long to read and write. `waits`: its activities that wait."""
        if cost_ns <= _FREE_NS or cost_ns <= jobs * _PER_JOB_NS or waits < WAITS_MIN:
            if self:
                self.pop(key, None)
            return
        seconds = min(cost_ns * REST_FACTOR / 1e9, REST_MAX.total_seconds())
        self[key] = Rest(monotonic() + seconds, cost_ns // _PER_JOB_NS)

    def rests(self, key: InstanceKey) -> Rest | None:
        """The rest of the instance, or None if it is over."""
        now = monotonic()
        if now >= self._until:
            self.clear()
            return None
        rest = self.get(key)
        if rest is not None and rest.until <= now:
            del self[key]
            return None
        return rest
