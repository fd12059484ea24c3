"""Bursts that wait for the answer of another process: each ends in a task of its own, and its batch goes on without it.

The instance counts as in hand meanwhile, so no other burst of this process runs it (rule "One instance, once per commit").
Other nodes may change it: the version check then discards the burst, as with every burst.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from holdfast.model.stored import InstanceKey
from holdfast.runtime.commits.in_hand import InstancesInHand
from holdfast.runtime.service import end_tasks


class SuspendedBursts:
    look_again: Callable[[], None]
    """Called when an instance is free again; set by the node."""

    def __init__(self, in_hand: InstancesInHand) -> None:
        self._in_hand = in_hand
        self._tasks: set[asyncio.Task[None]] = set()

    def add(self, key: InstanceKey, finish: Coroutine[Any, Any, None]) -> None:
        """Run the rest of a burst. `finish` reports its errors itself."""
        self._in_hand.claim([key])
        task = asyncio.get_running_loop().create_task(finish, name="holdfast-suspended-burst")
        self._tasks.add(task)

        def done(task: asyncio.Task[None]) -> None:
            self._tasks.discard(task)
            self._in_hand.end_claim([key])
            self.look_again()

        task.add_done_callback(done)

    async def stop(self, grace: float) -> None:
        """Wait for the bursts, then cancel them: nothing of a canceled burst is written."""
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=grace)
        await end_tasks(list(self._tasks))
