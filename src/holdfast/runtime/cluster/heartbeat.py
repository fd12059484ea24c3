"""The heartbeat: renews the lease of this node, and cancels effects that were taken from it.

With a second handle of the store the heartbeat runs in a thread with its own connection, so that a busy event loop does not
cost the lease. A loop that has not turned for a minute counts as dead: its lease is not renewed.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable
from datetime import timedelta

from holdfast.errors import StoreUnavailable
from holdfast.ports import Clock, Store
from holdfast.runtime.clock import follow_store
from holdfast.runtime.effects.running_effects import RunningEffects
from holdfast.runtime.liveness import Liveness
from holdfast.runtime.membership import Membership
from holdfast.runtime.observability.outage_log import OutageLog
from holdfast.runtime.service import PeriodicService

logger = logging.getLogger("holdfast")

LOOP_STUCK_AFTER = timedelta(seconds=60)
LOOP_TURN_SECONDS = 1.0
"""Pause between two signs of life of the event loop; also the pause after a failed heartbeat."""
THREAD_JOIN_SECONDS = 10.0
BEATS_PER_CLOCK = 6
"""Heartbeats between two readings of the store's clock."""

OpenStore = Callable[[], Store]


class Heartbeat:
    def __init__(
        self,
        store: Store,
        clock: Clock,
        membership: Membership,
        liveness: Liveness,
        running: RunningEffects,
        log: OutageLog,
        *,
        second_handle: OpenStore | None = None,
    ) -> None:
        self._store = store
        self._clock = clock
        self._membership = membership
        self._liveness = liveness
        self._running = running
        self._log = log
        self._second_handle = second_handle
        self._turns = PeriodicService(
            "loop-turns",
            self._turn,
            every=lambda: timedelta(seconds=min(LOOP_TURN_SECONDS, liveness.beat_seconds)),
            failure="the event loop could not report its turn",
            log=log,
        )
        self._beats = PeriodicService(
            "heartbeat",
            self._round,
            every=lambda: timedelta(seconds=liveness.beat_seconds),
            failure="the heartbeat failed",
            log=log,
            pause_first=True,
        )
        self._thread: threading.Thread | None = None
        self._ending = threading.Event()
        self._beats_since_clock = 0
        self._loop_turned = 0.0
        """When the event loop last turned, for the thread."""

    def start(self) -> None:
        loop = asyncio.get_running_loop()
        self._liveness.begin()
        self._loop_turned = time.monotonic()
        self._turns.start()
        if self._second_handle is None:
            self._beats.start()
        else:
            self._ending.clear()
            self._thread = threading.Thread(
                target=self._run_thread, args=(loop, self._second_handle), name="holdfast-heartbeat", daemon=True
            )
            self._thread.start()

    async def stop(self) -> None:
        self._ending.set()
        await self._turns.stop()
        await self._beats.stop()
        if self._thread is not None:
            await asyncio.to_thread(self._thread.join, THREAD_JOIN_SECONDS)
            self._thread = None

    async def _turn(self) -> None:
        self._loop_turned = time.monotonic()

    @property
    def _timeout(self) -> float:
        """Seconds that one heartbeat may take: a silent connection is given up in time for another attempt."""
        return self._liveness.time_to_live.total_seconds() / 2

    def _missed(self, error: Exception) -> None:
        if isinstance(error, TimeoutError):
            error = StoreUnavailable(f"The store did not answer within {self._timeout:g} seconds.")
        self._log.warning("node %s could not renew its heartbeat", self._membership.name, because=error)

    # -- on the event loop ---------------------------------------------------------------------------------------------

    async def _round(self) -> timedelta | None:
        if self._liveness.fenced:
            return None
        try:
            async with asyncio.timeout(self._timeout):
                await self.beat()
        except Exception as error:  # noqa: BLE001 - logged, and tried again soon
            self._missed(error)
            return timedelta(seconds=min(LOOP_TURN_SECONDS, self._liveness.beat_seconds))
        return None

    async def beat(self) -> None:
        """Renew the lease, and cancel effects that other nodes canceled or took over."""
        begun = time.monotonic()
        renewed = await self._store.beat(self._membership.owner, self._liveness.state)
        await self._follow(self._store)
        await self._beaten(begun if renewed else None)

    async def _follow(self, store: Store) -> None:
        """Read the store's clock with every few heartbeats."""
        self._beats_since_clock += 1
        if self._beats_since_clock >= BEATS_PER_CLOCK:
            self._beats_since_clock = 0
            await follow_store(self._clock, store)

    async def _beaten(self, renewed_at: float | None) -> None:
        liveness, running = self._liveness, self._running
        if renewed_at is None:
            if not liveness.fenced:
                liveness.fenced = True
                logger.error("another process runs as node %s; this process stops its effects", self._membership.name)
                running.cancel_lost(running.attempts(), [])
            return
        liveness.renew(renewed_at)
        self._log.answered()
        attempts = running.attempts()
        if attempts:
            running.cancel_lost(attempts, await self._store.effects_owned(self._membership.owner))
        running.start_delayed()

    # -- in the thread -------------------------------------------------------------------------------------------------

    def _run_thread(self, loop: asyncio.AbstractEventLoop, open_store: OpenStore) -> None:
        try:
            asyncio.run(self._beat_in_thread(loop, open_store))
        except Exception:
            logger.exception("the heartbeat of node %s stopped", self._membership.name)

    async def _beat_in_thread(self, loop: asyncio.AbstractEventLoop, open_store: OpenStore) -> None:
        store = open_store()
        opened = False
        try:
            pause = self._liveness.beat_seconds
            while not await asyncio.to_thread(self._ending.wait, pause):
                pause = self._liveness.beat_seconds
                try:
                    async with asyncio.timeout(self._timeout):
                        if not opened:
                            await store.open(migrate=False)
                            opened = True
                        if not await self._beat_once(loop, store):
                            return
                except Exception as error:  # noqa: BLE001 - logged, and tried again
                    self._missed(error)
                    pause = min(LOOP_TURN_SECONDS, pause)
        finally:
            await store.close()

    async def _beat_once(self, loop: asyncio.AbstractEventLoop, store: Store) -> bool:
        """One heartbeat; False if a later boot of this node has registered."""
        begun = time.monotonic()
        if begun - self._loop_turned > LOOP_STUCK_AFTER.total_seconds():
            logger.error("the event loop of node %s is stuck for a minute; it counts as dead", self._membership.name)
            return True
        renewed = await store.beat(self._membership.owner, self._liveness.state)
        if renewed:
            self._liveness.renew(begun)  # At once: the loop may be busy and is notified later.
            await self._follow(store)
        asyncio.run_coroutine_threadsafe(self._notify(begun if renewed else None), loop)
        return renewed

    async def _notify(self, renewed_at: float | None) -> None:
        try:
            await self._beaten(renewed_at)
        except Exception:  # noqa: BLE001 - logged, and tried again
            self._log.warning("node %s could not check its effects", self._membership.name)
