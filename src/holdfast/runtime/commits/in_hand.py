"""Instances that this node works on now: held by a component, queued in a lane, running an effect, or run by a claim.

An instance runs once at a time in a process (rule "One instance, once per commit"): lanes leave instances alone that a claim
runs, and instances whose burst is suspended. Callers in this process wait here until an instance rests.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable

from holdfast.model.stored import InstanceKey
from holdfast.runtime.commits.instance_watch import InstanceWatch

WorksOn = Callable[[InstanceKey], bool]


class InstancesInHand:
    def __init__(self) -> None:
        self.watch = InstanceWatch(self.has)
        self.claimed: Counter[InstanceKey] = Counter()
        """Instances that run inside a claim, or whose burst is suspended; with the number of both."""
        self._held: Counter[InstanceKey] = Counter()
        self._also: tuple[WorksOn, ...] = ()

    def include(self, *works_on: WorksOn) -> None:
        """Add components that work on instances without holding them here: lanes and running effects."""
        self._also = (*self._also, *works_on)

    def __bool__(self) -> bool:
        return bool(self._held)

    def has(self, key: InstanceKey) -> bool:
        return (bool(self._held) and key in self._held) or any(works_on(key) for works_on in self._also)

    def hold(self, key: InstanceKey) -> None:
        """A component works on the instance outside of its lane; `release` ends it."""
        self._held[key] += 1

    def release(self, key: InstanceKey) -> None:
        self._held[key] -= 1
        if self._held[key] <= 0:
            del self._held[key]
        self.watch.notify(key)

    def claim(self, keys: Iterable[InstanceKey]) -> None:
        for key in keys:
            self.claimed[key] += 1
            self.hold(key)

    def end_claim(self, keys: Iterable[InstanceKey]) -> None:
        for key in keys:
            self.claimed[key] -= 1
            if self.claimed[key] <= 0:
                del self.claimed[key]
            self.release(key)
