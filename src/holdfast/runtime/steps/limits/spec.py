"""Limits of queues as settings declare them: steps at a time, and starts per second."""

from __future__ import annotations

import re
from collections.abc import Mapping

from msgspec import Struct
from msgspec.structs import replace

from holdfast.errors import SettingsError
from holdfast.model.ticket import is_queue

_WRITTEN = re.compile(
    r"(?P<queue>[^=/\s]+)(?:/(?P<input>[^=/\s]+))?=(?P<concurrency>\d+)?(?:@(?P<rate>\d+(?:\.\d+)?)/s)?"
)


class Limit(Struct, frozen=True, kw_only=True):
    """The limit of one queue, on one node or in the whole cluster."""

    concurrency: int | None = None
    per_second: float | None = None
    per_value: Mapping[str, Limit] = {}
    """Limits for each value of an input, by the name of the input."""

    @property
    def covers_queue(self) -> bool:
        """Whether the queue as a whole is limited, not only the values of an input."""
        return self.concurrency is not None or self.per_second is not None

    @property
    def burst(self) -> float:
        """Steps that may start at once after a pause."""
        return max(1.0, self.per_second or 0.0)


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
                f"'{part}' is not a limit of a queue. Write it as gpu=2, mail=8@10/s or sms=@1/s, and mail/customer=2 for "
                "each value of an input."
            )
        if concurrency == 0 or rate == 0:
            raise SettingsError(f"'{part}' allows no steps. Leave the queue out of `queues` instead.")
        limit, known = Limit(concurrency=concurrency, per_second=rate), found.get(written["queue"], Limit())
        found[written["queue"]] = (
            replace(known, per_value={**known.per_value, written["input"]: limit})
            if written["input"]
            else replace(limit, per_value=known.per_value)
        )
    return found
