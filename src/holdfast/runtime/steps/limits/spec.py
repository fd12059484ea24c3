"""How much a worker takes from a queue: so many at a time, so many per second."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping

from msgspec import Struct
from msgspec.structs import replace

from holdfast.errors import SettingsError
from holdfast.model.ticket import is_queue

_WRITTEN = re.compile(
    r"(?P<queue>[^=/\s]+)(?:/(?P<input>[^=/\s]+))?=(?P<concurrency>\d+)?(?:@(?P<rate>\d+(?:\.\d+)?)/s)?"
)


class Limit(Struct, frozen=True, kw_only=True):
    """Of one queue, on one node or on all together."""

    concurrency: int | None = None
    per_second: float | None = None
    each: Mapping[str, Limit] = {}
    """For each value of an input, by its name."""

    @property
    def of_all(self) -> bool:
        """Whether it limits the queue as a whole."""
        return self.concurrency is not None or self.per_second is not None


def parse_limits(text: str) -> dict[str, Limit]:
    """`gpu=2, mail=8@10/s, sms=@1/s`: at a time, and per second; `mail/customer=2@1/s`: the same for each value of the input
    `customer`. Raises `SettingsError`."""
    found: dict[str, Limit] = {}
    for part in filter(None, (item.strip() for item in text.split(","))):
        written = _WRITTEN.fullmatch(part)
        concurrency = int(written["concurrency"]) if written and written["concurrency"] else None
        rate = float(written["rate"]) if written and written["rate"] else None
        if written is None or not is_queue(written["queue"]) or (concurrency is None and rate is None):
            raise SettingsError(
                f"'{part}' is no limit of a queue. Write it as gpu=2, mail=8@10/s or sms=@1/s, and mail/customer=2 for "
                "each value of an input."
            )
        if concurrency == 0 or rate == 0:
            raise SettingsError(f"'{part}' lets nothing through. Leave the queue out of `queues` instead.")
        limit, known = Limit(concurrency=concurrency, per_second=rate), found.get(written["queue"], Limit())
        found[written["queue"]] = (
            replace(known, each={**known.each, written["input"]: limit})
            if written["input"]
            else replace(limit, each=known.each)
        )
    return found


class Allowance:
    """What a limit allows now. A pause is no credit: after it, at most one second's worth goes at once."""

    def __init__(self, limit: Limit) -> None:
        self._limit = limit
        self._filled = time.monotonic()
        self._tokens = self._burst = max(1.0, limit.per_second or 0.0)

    def room(self, taken: int) -> int:
        """How many more may begin, with so many at work."""
        limit = self._limit
        free = 1_000_000 if limit.concurrency is None else limit.concurrency - taken
        if limit.per_second is None:
            return free
        now = time.monotonic()
        self._tokens = min(self._burst, self._tokens + (now - self._filled) * limit.per_second)
        self._filled = now
        return min(free, int(self._tokens))

    def take(self, count: int) -> None:
        self._tokens -= count

    @property
    def patience(self) -> float:
        """Seconds until it is worth to look again."""
        return 1.0 if self._limit.per_second is None else min(1.0, 1.0 / self._limit.per_second)
