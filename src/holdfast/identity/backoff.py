"""Back-off after failed sign-ins, counted in the store over all processes.

Three counters have different thresholds: a name from one address; a name from any address, with a higher threshold so
that others cannot lock its owner out at once; and an address, which may try many names. Beyond the threshold each
failure doubles the delay. A success resets the counter of the name and address.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from hashlib import blake2b

from msgspec import Struct

from holdfast.errors import TooManyAttempts
from holdfast.identity.records import RecordTable
from holdfast.ports.store import RecordStore

FIRST_DELAY = timedelta(seconds=1)
DELAY_MAX = timedelta(minutes=5)
RESET_AFTER = timedelta(hours=1)
NAME_AND_ADDRESS_THRESHOLD, NAME_THRESHOLD, ADDRESS_THRESHOLD = 5, 50, 200


class Failures(Struct, frozen=True, kw_only=True):
    count: int
    latest: datetime
    until: datetime
    """Attempts before this time are refused."""


class BackOff:
    def __init__(self, store: RecordStore, tenant: str, now: Callable[[], datetime]) -> None:
        self._records = RecordTable(store, tenant, "sign-in", Failures, now)
        self._now = now

    async def check(self, name: str, address: str) -> None:
        """Raise `TooManyAttempts` during a delay."""
        now = self._now()
        for key, _ in _counters(name, address):
            found = await self._records.get(key)
            if found is not None and found.until > now:
                raise TooManyAttempts(found.until - now)

    async def failed(self, name: str, address: str) -> None:
        for key, threshold in _counters(name, address):
            await self._records.change_or_add(key, self._counter(threshold), due=self._now() + RESET_AFTER)

    async def succeeded(self, name: str, address: str) -> None:
        await self._records.remove(_counters(name, address)[0][0])

    async def sweep(self) -> int:
        return await self._records.remove_due(self._now())

    def _counter(self, threshold: int) -> Callable[[Failures | None], Failures]:
        now = self._now()

        def count(before: Failures | None) -> Failures:
            number = 1 if before is None or before.latest < now - RESET_AFTER else before.count + 1
            over = number - threshold
            wait = min(FIRST_DELAY * 2 ** min(over, 20), DELAY_MAX) if over >= 0 else timedelta()
            return Failures(count=number, latest=now.astimezone(UTC), until=(now + wait).astimezone(UTC))

        return count


def _counters(name: str, address: str) -> tuple[tuple[str, int], ...]:
    def key(*parts: str) -> str:
        return blake2b("\0".join(parts).encode(), digest_size=16).hexdigest()

    return (
        (key("both", name, address), NAME_AND_ADDRESS_THRESHOLD),
        (key("name", name), NAME_THRESHOLD),
        (key("address", address), ADDRESS_THRESHOLD),
    )
