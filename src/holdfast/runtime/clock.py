"""The clock of this machine."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime


class SystemClock:
    now_ns = staticmethod(time.time_ns)

    def now(self) -> datetime:
        return datetime.now(UTC)

    async def wait_until(self, moment: datetime) -> None:
        await asyncio.sleep(max(0.0, (moment - self.now()).total_seconds()))
