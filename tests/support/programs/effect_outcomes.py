"""The activity of the random programs of effect calls: each attempt fails or succeeds as the test has drawn it."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from random import Random

from holdfast import Context, activity
from tests.support.programs.effect_calls import LAST

MOST_FAILURES = 2


class Outcomes:
    """Attempts by name of the call: `(key, attempt)`; and the names that have succeeded."""

    def __init__(self, seed: int) -> None:
        self._rng = Random(seed)
        self._failures: dict[str, int] = defaultdict(int)
        self.attempts: dict[str, list[tuple[str, int]]] = defaultdict(list)
        self.again: list[str] = []
        """Calls that began after they had succeeded."""
        self.succeeded: set[str] = set()

    async def run(self, name: str, context: Context) -> str:
        if name in self.succeeded:
            self.again.append(name)
        self.attempts[name].append((context.idempotency_key, context.attempt))
        for _ in range(self._rng.randint(0, 8)):
            await asyncio.sleep(0)  # turns of the event loop, so that attempts interleave at random
        if not name.startswith(LAST) and self._failures[name] < MOST_FAILURES and self._rng.random() < 0.35:
            self._failures[name] += 1
            raise KeyError(name) if self._rng.random() < 0.3 else ValueError(name)
        self.succeeded.add(name)
        return name


class Current:
    outcomes: Outcomes


@activity
async def call(name: str, context: Context) -> str:
    return await Current.outcomes.run(name, context)
