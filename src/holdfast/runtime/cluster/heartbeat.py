"""The heartbeat of a node: as long as it beats, its effects are its own.

It beats in a thread of its own with a store handle of its own (rule H13): a loop that is busy for a while must not lose its
effects to others. A loop that has not turned for a minute is not busy but stuck, and then it should. Without a second handle
(a store in memory, a test) it beats on the loop. What follows from a beat always happens on the loop.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable
from datetime import timedelta
from typing import TYPE_CHECKING

from holdfast.errors import StoreUnavailable
from holdfast.model.cluster import NodeState
from holdfast.ports import Store
from holdfast.runtime.clock import follow_store
from holdfast.runtime.task_end import end

if TYPE_CHECKING:
    from holdfast.runtime.cluster.node import Node

logger = logging.getLogger("holdfast")

BEATS = 3
"""Within one time to live, at least."""
STUCK_AFTER = timedelta(seconds=60)
"""A loop that has not turned for so long is given up."""
TURN = 1.0
"""Seconds between two signs of life of the loop."""

OpenStore = Callable[[], Store]


class Heart:
    def __init__(
        self,
        node: Node,
        time_to_live: timedelta,
        *,
        beat_every: timedelta | None = None,
        second_handle: OpenStore | None = None,
    ) -> None:
        self._node = node
        self.time_to_live = time_to_live
        self._beat_every = beat_every
        self._second_handle = second_handle
        self._tasks: list[asyncio.Task[None]] = []
        self._thread: threading.Thread | None = None
        self._ending = threading.Event()
        self._renewed = 0.0
        self.turned = 0.0
        """When the loop last turned, as the thread sees it."""
        self.state = NodeState.LIVE
        self.fenced = False
        """A later life of this node has registered: this one must not do anything any more."""

    @property
    def every(self) -> float:
        """Seconds between two beats."""
        wanted = self.time_to_live / BEATS if self._beat_every is None else self._beat_every
        return min(wanted, self.time_to_live / BEATS).total_seconds()

    # -- life ----------------------------------------------------------------------------------------------------------

    def start(self) -> None:
        loop = asyncio.get_running_loop()
        self._renewed = self.turned = time.monotonic()
        self._tasks = [loop.create_task(self._turn(), name="holdfast-turning")]
        if self._second_handle is None:
            self._tasks.append(loop.create_task(self._run(), name="holdfast-heart"))
        else:
            self._ending.clear()
            self._thread = threading.Thread(
                target=self._in_thread, args=(loop, self._second_handle), name="holdfast-heart", daemon=True
            )
            self._thread.start()

    async def stop(self) -> None:
        self._ending.set()
        await end(self._tasks)
        self._tasks = []
        if self._thread is not None:
            await asyncio.to_thread(self._thread.join, 10)
            self._thread = None

    async def _turn(self) -> None:
        while True:
            self.turned = time.monotonic()
            await asyncio.sleep(min(TURN, self.every))

    @property
    def _patience(self) -> float:
        """Seconds that a beat may take: a line that fell silent is given up early enough for another one."""
        return self.time_to_live.total_seconds() / 2

    def _missed(self, error: Exception) -> None:
        if isinstance(error, TimeoutError):
            error = StoreUnavailable(f"The store did not answer within {self._patience:g} seconds.")
        self._node.outage.warn("node %s could not renew its heartbeat", self._node.name, because=error)

    @property
    def may_start_effects(self) -> bool:
        """A node that could not renew for two thirds of its time to live starts none: others may have them soon."""
        silent = time.monotonic() - self._renewed
        return not self.fenced and silent < self.time_to_live.total_seconds() * 2 / 3

    # -- on the loop ---------------------------------------------------------------------------------------------------

    async def _run(self) -> None:
        pause = self.every
        while not self.fenced:
            await asyncio.sleep(pause)
            pause = self.every
            try:
                async with asyncio.timeout(self._patience):
                    await self.beat()
            except Exception as error:  # noqa: BLE001 - it is told, and tried again
                self._missed(error)
                pause = min(TURN, pause)

    async def beat(self) -> None:
        """Renew, and learn what was taken from this node: canceled by others, or given to others."""
        begun = time.monotonic()
        renewed = await self._node.store.beat(self._node.owner, self.state)
        await follow_store(self._node.clock, self._node.store)
        await self._felt(begun if renewed else None)

    async def _felt(self, renewed: float | None) -> None:
        node = self._node
        if renewed is None:
            if not self.fenced:
                self.fenced = True
                logger.error("another process runs as node %s; this one stops its effects", node.name)
                node.effects.keep_only(node.effects.attempts(), [])
            return
        self._renewed = renewed
        node.outage.answered()
        running = node.effects.attempts()
        if running:
            node.effects.keep_only(running, list(await node.store.effects_owned(node.owner)))
        node.effects.start_held()

    # -- in the thread -------------------------------------------------------------------------------------------------

    def _in_thread(self, loop: asyncio.AbstractEventLoop, open_store: OpenStore) -> None:
        try:
            asyncio.run(self._pulse(loop, open_store))
        except Exception:
            logger.exception("the heart of node %s stopped", self._node.name)

    async def _pulse(self, loop: asyncio.AbstractEventLoop, open_store: OpenStore) -> None:
        store = open_store()
        opened = False
        try:
            pause = self.every
            while not await asyncio.to_thread(self._ending.wait, pause):
                pause = self.every
                try:
                    async with asyncio.timeout(self._patience):
                        if not opened:
                            await store.open(migrate=False)
                            opened = True
                        if not await self._pulse_once(loop, store):
                            return
                except Exception as error:  # noqa: BLE001 - it is told, and tried again
                    self._missed(error)
                    pause = min(TURN, pause)
        finally:
            await store.close()

    async def _pulse_once(self, loop: asyncio.AbstractEventLoop, store: Store) -> bool:
        """One beat; False if this life is over."""
        begun = time.monotonic()
        if begun - self.turned > STUCK_AFTER.total_seconds():
            logger.error("the event loop of node %s has stood still for a minute; it counts as dead", self._node.name)
            return True
        renewed = await store.beat(self._node.owner, self.state)
        if renewed:
            self._renewed = begun  # At once: the loop may be busy, and is told later.
            await follow_store(self._node.clock, store)
        asyncio.run_coroutine_threadsafe(self._told(begun if renewed else None), loop)
        return renewed

    async def _told(self, renewed: float | None) -> None:
        try:
            await self._felt(renewed)
        except Exception:  # noqa: BLE001 - it is told, and tried again
            self._node.outage.warn("node %s could not look after its effects", self._node.name)
