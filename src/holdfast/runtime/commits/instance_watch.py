"""Waiting, in this process, for an instance: for the next change, or until this node does not work on it any more.

A caller that waits for the end is woken once, not with every effect on the way, and receives the final row if the instance
ended for good meanwhile, so that it need not read back a row that was just written.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from holdfast.model.instance import Status
from holdfast.model.stored import InstanceKey, InstanceRow

_Waiter = asyncio.Future[InstanceRow | None]
_FINAL = frozenset({Status.FINISHED.value, Status.CANCELED.value})
"""Final statuses. `faulted` is not one of them: a faulted instance may be retried."""


class _Waiters:
    __slots__ = ("futures", "row")

    def __init__(self) -> None:
        self.futures: list[_Waiter] = []
        self.row: InstanceRow | None = None
        """The final row, if the instance ended while the callers waited."""


class InstanceWatch:
    def __init__(self, works_on: Callable[[InstanceKey], bool]) -> None:
        self._works_on = works_on
        self._next: dict[InstanceKey, _Waiters] = {}
        self._rest: dict[InstanceKey, _Waiters] = {}

    def next_change(self, key: InstanceKey) -> _Waiter:
        """A future that is done after the next change of the instance on this node. Subscribe first, then read."""
        return _subscribe(self._next, key)

    async def rest(self, key: InstanceKey) -> InstanceRow | None:
        """Wait until this node does not work on the instance; returns its row if it ended for good meanwhile."""
        row = None
        while self._works_on(key):
            row = await _subscribe(self._rest, key)
        return row

    def ended(self, key: InstanceKey, row: InstanceRow) -> None:
        """The row of an instance at rest was committed. Waiters are woken when this node is done with the instance."""
        waiters = self._rest.get(key) if self._rest else None
        if waiters is not None and row.status in _FINAL:
            waiters.row = row

    def notify(self, key: InstanceKey, *, more_in_hand: bool = False) -> None:
        """The instance changed. `more_in_hand`: the caller knows that this node still works on it."""
        if self._next and key in self._next:
            _wake(self._next, key)
        if self._rest and not more_in_hand and key in self._rest and not self._works_on(key):
            _wake(self._rest, key)


def _subscribe(table: dict[InstanceKey, _Waiters], key: InstanceKey) -> _Waiter:
    future: _Waiter = asyncio.get_running_loop().create_future()
    waiters = table.get(key)
    if waiters is None:
        waiters = table[key] = _Waiters()
    waiters.futures.append(future)
    return future


def _wake(table: dict[InstanceKey, _Waiters], key: InstanceKey) -> None:
    waiters = table.pop(key)
    for future in waiters.futures:
        if not future.done():
            future.set_result(waiters.row)
