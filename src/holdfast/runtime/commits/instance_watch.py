"""Waiting, in this process, for something to happen to an instance: for the next thing, or until nothing of it is in hand.

Who waits for the end of all is woken once, not with every effect on the way there, and is given what the instance came to if
it has ended for good: nobody has to ask the store for what was just written to it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from holdfast.model.instance import Status
from holdfast.model.stored import InstanceRow

_News = asyncio.Future[InstanceRow | None]
_FOR_GOOD = frozenset({Status.FINISHED.value, Status.CANCELED.value})
"""Nothing moves on from these; a faulted instance may be retried."""


class _Waiting:
    __slots__ = ("everyone", "row")

    def __init__(self) -> None:
        self.everyone: list[_News] = []
        self.row: InstanceRow | None = None
        """As it ended while they waited."""


class Watching:
    def __init__(self, works_on: Callable[[str], bool]) -> None:
        self._works_on = works_on
        self._next: dict[str, _Waiting] = {}
        self._rest: dict[str, _Waiting] = {}

    def news(self, instance_id: str) -> _News:
        """Done when something has happened to the instance on this node. Subscribe, then read."""
        return _subscribe(self._next, instance_id)

    async def rest(self, instance_id: str) -> InstanceRow | None:
        """Until nothing of the instance is in hand on this node; its row, if it was ended for good meanwhile."""
        row = None
        while self._works_on(instance_id):
            row = await _subscribe(self._rest, instance_id)
        return row

    def ended(self, row: InstanceRow) -> None:
        """The row of an instance at rest was committed. Who waits is woken when nothing of it is in hand any more."""
        waiting = self._rest.get(row.id)
        if waiting is not None and row.status in _FOR_GOOD:
            waiting.row = row

    def tell(self, instance_id: str, *, goes_on: bool = False) -> None:
        """Something has happened. `goes_on`: more of it is in hand, as whoever tells knows."""
        if instance_id in self._next:
            _wake(self._next, instance_id)
        if not goes_on and instance_id in self._rest and not self._works_on(instance_id):
            _wake(self._rest, instance_id)


def _subscribe(waiting: dict[str, _Waiting], instance_id: str) -> _News:
    future: _News = asyncio.get_running_loop().create_future()
    found = waiting.get(instance_id)
    if found is None:
        found = waiting[instance_id] = _Waiting()
    found.everyone.append(future)
    return future


def _wake(waiting: dict[str, _Waiting], instance_id: str) -> None:
    found = waiting.pop(instance_id)
    for future in found.everyone:
        if not future.done():
            future.set_result(found.row)
