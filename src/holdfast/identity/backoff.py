"""Back-off of sign-ins, counted in the store over all processes, before the password is verified.

Each attempt is counted first, so that parallel guesses cannot pass together; a success takes its own attempt back. Three
counters have different thresholds: a name from one address; a name from any address, with a higher threshold; and an address,
which may try many names. Beyond the threshold each attempt doubles the delay. A known device has one counter of its own
instead, so that strangers cannot lock its user out.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from hashlib import blake2b

from msgspec import Struct
from msgspec.structs import replace

from holdfast.errors import StoreUnavailable, TooManyAttempts
from holdfast.identity.records import RecordTable
from holdfast.ports.store import RecordStore

FIRST_DELAY = timedelta(seconds=1)
DELAY_MAX = timedelta(minutes=5)
RESET_AFTER = timedelta(hours=1)
NAME_AND_ADDRESS_THRESHOLD, NAME_THRESHOLD, ADDRESS_THRESHOLD = 5, 50, 200
DEVICE_THRESHOLD = 5

Counter = tuple[str, int]
"""Key and threshold."""


class Attempts(Struct, frozen=True, kw_only=True):
    """Attempts without a success."""

    count: int
    latest: datetime
    until: datetime
    """Attempts before this time are refused."""


class BackOff:
    def __init__(self, store: RecordStore, tenant: str, now: Callable[[], datetime]) -> None:
        self._records = RecordTable(store, tenant, "sign-in", Attempts, now)
        self._now = now
        self._counting = asyncio.Lock()
        """Attempts of this process count one by one: parallel ones would only conflict in the store."""

    async def begin(self, name: str, address: str, device: str | None = None) -> None:
        """Count an attempt. Raises `TooManyAttempts` during a delay; then nothing is counted."""
        counters = _counters(name, address, device)
        async with self._counting:
            await self._check(counters)
            for key, threshold in counters:
                try:
                    await self._records.change_or_add(key, self._counted(threshold), due=self._now() + RESET_AFTER)
                except StoreUnavailable as error:  # Other processes count the same name or address all the time.
                    raise TooManyAttempts(FIRST_DELAY) from error

    async def succeeded(self, name: str, address: str, device: str | None = None) -> None:
        """Forget the attempts of this name from this address or device, and take this one back from the other counters."""
        (own, _), *others = _counters(name, address, device)
        async with self._counting:
            await self._records.remove(own)
            for key, threshold in others:
                await self._records.change(key, self._taken_back(threshold))

    async def sweep(self) -> int:
        return await self._records.remove_due(self._now())

    async def _check(self, counters: tuple[Counter, ...]) -> None:
        now = self._now()
        for key, _ in counters:
            found = await self._records.get(key)
            if found is not None and found.until > now:
                raise TooManyAttempts(found.until - now)

    def _counted(self, threshold: int) -> Callable[[Attempts | None], Attempts]:
        now = self._now()

        def count(before: Attempts | None) -> Attempts:
            if before is not None and before.until > now:  # Another process counted since the check.
                raise TooManyAttempts(before.until - now)
            number = 1 if before is None or before.latest < now - RESET_AFTER else before.count + 1
            over = number - threshold
            wait = min(FIRST_DELAY * 2 ** min(over, 20), DELAY_MAX) if over >= 0 else timedelta()
            return Attempts(count=number, latest=now.astimezone(UTC), until=(now + wait).astimezone(UTC))

        return count

    def _taken_back(self, threshold: int) -> Callable[[Attempts], Attempts]:
        """A delay that others have earned stays: a success of one user must not free the guesses at another."""
        now = self._now()

        def take_back(before: Attempts) -> Attempts:
            count = max(before.count - 1, 0)
            return replace(before, count=count, until=before.until if count >= threshold else now.astimezone(UTC))

        return take_back


def _counters(name: str, address: str, device: str | None) -> tuple[Counter, ...]:
    def key(*parts: str) -> str:
        return blake2b("\0".join(parts).encode(), digest_size=16).hexdigest()

    if device is not None:
        return ((key("device", name, device), DEVICE_THRESHOLD),)
    return (
        (key("both", name, address), NAME_AND_ADDRESS_THRESHOLD),
        (key("name", name), NAME_THRESHOLD),
        (key("address", address), ADDRESS_THRESHOLD),
    )
