"""Recurring tasks that one node of the cluster does: whoever comes first when one is due, the next time perhaps another.

Each time is claimed by a record whose version is the next one: of all nodes that see it due, one writes it. Who dies after the
claim leaves that time undone; the next one is another's.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING

from holdfast.errors import StoreError
from holdfast.model.record_rows import RecordRow
from holdfast.runtime.cluster.plugin_tasks import Recurring
from holdfast.runtime.task_end import end

if TYPE_CHECKING:
    from holdfast.runtime.cluster.node import Node

logger = logging.getLogger("holdfast")

KIND = "single-task"


class SingleTasks:
    def __init__(self, node: Node, tasks: Sequence[Recurring]) -> None:
        self._node = node
        self._given = tuple(tasks)
        self._running: list[asyncio.Task[None]] = []

    def start(self) -> None:
        loop = asyncio.get_running_loop()
        self._running = [loop.create_task(self._repeat(item), name=f"holdfast-{item.name}") for item in self._given]

    async def stop(self) -> None:
        await end(self._running)
        self._running = []

    async def _repeat(self, item: Recurring) -> None:
        while True:
            await asyncio.sleep(min(item.every.total_seconds() / 4, 5.0))
            if self._node.gate.paused:
                continue
            try:
                if await self.claim(item):
                    await item.task()
            except StoreError:
                self._node.outage.warn("the task '%s' could not be claimed", item.name)
            except Exception:
                logger.exception("The single-node task '%s' failed; it runs again in %s.", item.name, item.every)

    async def claim(self, item: Recurring) -> bool:
        """Whether it is due and this node does it. The first time is one interval after anybody first saw it."""
        node = self._node
        now = await node.store.now()
        found = await node.store.get_record(node.tenant, KIND, item.name)
        if found is not None and (found.due is None or found.due > now):
            return False
        row = RecordRow(
            tenant=node.tenant,
            kind=KIND,
            id=item.name,
            version=1 if found is None else found.version + 1,
            owner=node.name,
            due=now + item.every,
            created=now,
            updated=now,
        )
        return await node.store.put_record(row) and found is not None
