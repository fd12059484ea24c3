"""The heartbeat of a node: as long as it beats, its effects are its own."""

from __future__ import annotations

import asyncio
import logging
from datetime import timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from holdfast.runtime.durable.node import Node

logger = logging.getLogger("holdfast")

BEATS = 3
"""Within one time to live."""


class Heart:
    def __init__(self, node: Node, time_to_live: timedelta) -> None:
        self._node = node
        self.time_to_live = time_to_live
        self._task: asyncio.Task[None] | None = None
        self._renewed = 0.0
        self.fenced = False
        """A later life of this node has registered: this one must not do anything any more."""

    def start(self) -> None:
        loop = asyncio.get_running_loop()
        self._renewed = loop.time()
        self._task = loop.create_task(self._run(), name="holdfast-heart")

    async def stop(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])
            self._task = None

    @property
    def may_start_effects(self) -> bool:
        silent = asyncio.get_running_loop().time() - self._renewed
        return not self.fenced and silent < self.time_to_live.total_seconds() * 2 / 3

    async def _run(self) -> None:
        while not self.fenced:
            await asyncio.sleep(self.time_to_live.total_seconds() / BEATS)
            try:
                await self.beat()
            except Exception:
                logger.warning("node %s could not renew its heartbeat", self._node.name, exc_info=True)

    async def beat(self) -> None:
        """Renew, and learn what was taken from this node: canceled by others, or given to others."""
        node = self._node
        begun = asyncio.get_running_loop().time()
        if not await node.store.beat(node.owner):
            self.fenced = True
            logger.error("another process runs as node %s; this one stops its effects", node.name)
            node.effects.keep_only(node.effects.keys(), [])
            return
        self._renewed = begun
        running = node.effects.keys()
        if running:
            node.effects.keep_only(running, list(await node.store.effects_owned(node.owner)))
        node.effects.start_held()
