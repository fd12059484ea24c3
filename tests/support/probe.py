"""Shared state of a test and its activities, which are functions of the module and run on any node.

`conftest.py` resets it for each test and opens the gate afterwards, so that no activity keeps waiting.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any


class Probe:
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


probe = Probe()
