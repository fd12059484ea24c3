"""Waiting, in this process, for something to happen to an instance: for the next thing, or until nothing of it is in hand.

Who waits for the end of all is woken once, not with every effect on the way there.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

_Waiting = dict[str, list["asyncio.Future[None]"]]


class Watching:
    def __init__(self, works_on: Callable[[str], bool]) -> None:
        self._works_on = works_on
        self._next: _Waiting = {}
        self._rest: _Waiting = {}

    def news(self, instance_id: str) -> asyncio.Future[None]:
        """Done when something has happened to the instance on this node. Subscribe, then read."""
        return _subscribe(self._next, instance_id)

    async def rest(self, instance_id: str) -> None:
        """Until nothing of the instance is in hand on this node."""
        while self._works_on(instance_id):
            await _subscribe(self._rest, instance_id)

    def tell(self, instance_id: str) -> None:
        """Something has happened."""
        if instance_id in self._next:
            _wake(self._next, instance_id)
        if instance_id in self._rest and not self._works_on(instance_id):
            _wake(self._rest, instance_id)


def _subscribe(waiting: _Waiting, instance_id: str) -> asyncio.Future[None]:
    future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    waiting.setdefault(instance_id, []).append(future)
    return future


def _wake(waiting: _Waiting, instance_id: str) -> None:
    for future in waiting.pop(instance_id):
        if not future.done():
            future.set_result(None)
