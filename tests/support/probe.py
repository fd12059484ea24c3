"""What the activities of a test share with it: they are functions of the module, as users write them, and run on any node.

Made anew for each test by `conftest.py`. Whoever still waits at the gate when the test ends is let go.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any


class Bench:
    def __init__(self) -> None:
        self.renew()

    def renew(self) -> None:
        self.calls: list[Any] = []
        """In their order."""
        self.counts: Counter[Any] = Counter()
        self.gate = asyncio.Event()
        self.begun = asyncio.Event()
        self.canceled = asyncio.Event()
        self.together = asyncio.Barrier(5)
        self.here = 0
        """At work now."""
        self.most = 0
        """At one time."""
        self.most_of: Counter[Any] = Counter()
        """The same, by what is worked on; `counts` has those at work."""


bench = Bench()
