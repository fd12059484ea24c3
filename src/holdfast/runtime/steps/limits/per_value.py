"""Limits per value: of a queue's steps, so many at a time and so many per second for each customer, say.

`mail/customer=2` counts steps of the queue `mail` by the value of their input `customer`; steps without that input are not
counted. Who may not begin yet is put off until about when its turn comes, and holds up nobody else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from time import monotonic
from typing import TYPE_CHECKING, Any

from holdfast.model.hashing import stimulus_hash
from holdfast.model.work import EffectRow
from holdfast.runtime.commits.state_codec import decode_payload
from holdfast.runtime.steps.limits.cluster_per_value import Places
from holdfast.runtime.steps.limits.spec import Allowance, Limit

if TYPE_CHECKING:
    from holdfast.runtime.cluster.node import Node

Value = tuple[str, str]
"""The name of an input, and what stands for its value."""

SOON = 0.05
"""Seconds between two ends, until some were seen."""
LATEST = 30.0
KEPT_MAX = 10_000


class _Counted:
    """One value on this node."""

    def __init__(self, limit: Limit | None) -> None:
        self.allowance = None if limit is None else Allowance(limit)
        self.running = 0
        self.put_off = 0
        """Since one of them last ended."""
        self.pace = SOON
        """Seconds between two ends, as it has been lately."""
        self._ended = monotonic()

    @property
    def has_room(self) -> bool:
        return self.allowance is None or self.allowance.room(self.running) > 0

    def begin(self) -> None:
        self.running += 1
        if self.allowance is not None:
            self.allowance.take(1)

    def unbegin(self) -> None:
        self.running -= 1
        if self.allowance is not None:
            self.allowance.take(-1)

    def end(self) -> None:
        now = monotonic()
        self.running -= 1
        self.put_off = 0
        self.pace, self._ended = 0.7 * self.pace + 0.3 * min(now - self._ended, LATEST), now


class EachValue:
    def __init__(self, node: Node, queue: str, here: Mapping[str, Limit], everywhere: Mapping[str, Limit]) -> None:
        self._node = node
        self._here = here
        self._everywhere = {name: Places(node, f"{queue}/{name}", limit) for name, limit in everywhere.items()}
        self._names = tuple(dict.fromkeys((*here, *everywhere)))
        self._counted: dict[Value, _Counted] = {}

    async def values_of(self, row: EffectRow, content: str) -> list[Value]:
        """By which values a step is counted."""
        types = (await self._node.pins.plan(content)).types
        inputs: Any = decode_payload(row.inputs, types)
        return [(name, stimulus_hash(inputs[name], types=types)[:16]) for name in self._names if name in inputs]

    async def begin(self, values: Sequence[Value]) -> timedelta | None:
        """None: it may, and counts until `end`. Else how long to put it off."""
        counted = [self._count(value) for value in values]
        if not all(one.has_room for one in counted):
            return _later(counted)
        for one in counted:
            one.begin()
        taken = list[Value]()
        for name, value in values:
            places = self._everywhere.get(name)
            if places is not None and not await places.take(value):
                for other, kept in taken:
                    await self._everywhere[other].give_back(kept)
                for one in counted:
                    one.unbegin()
                return _later(counted)
            if places is not None:
                taken.append((name, value))
        return None

    async def end(self, values: Sequence[Value]) -> None:
        for name, value in values:
            self._count((name, value)).end()
            places = self._everywhere.get(name)
            if places is not None:
                await places.give_back(value)

    def _count(self, value: Value) -> _Counted:
        found = self._counted.get(value)
        if found is None:
            if len(self._counted) >= KEPT_MAX:
                self._counted = {key: one for key, one in self._counted.items() if one.running or not one.has_room}
            found = self._counted[value] = _Counted(self._here.get(value[0]))
        return found


def _later(counted: Sequence[_Counted]) -> timedelta:
    """About when its turn comes: behind those that were put off before it."""
    seconds = 0.0
    for one in counted:
        one.put_off += 1
        seconds = max(seconds, one.pace * one.put_off)
    return timedelta(seconds=min(seconds, LATEST))
