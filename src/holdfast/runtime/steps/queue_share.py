"""Queues that a worker takes steps from together, and what limits them: this node's own room, and that of the whole cluster."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from holdfast.model.work import queue_of
from holdfast.runtime.steps.limits.cluster import Permits
from holdfast.runtime.steps.limits.per_value import EachValue, Value
from holdfast.runtime.steps.limits.spec import Allowance, Limit

if TYPE_CHECKING:
    from holdfast.runtime.cluster.node import Node

Key = tuple[str, int]
PAUSE = 1.0
"""Seconds until a carrier or store that failed is asked again, and a share without a limit is looked at again."""


class Share:
    """Queues that are taken from together: all without a limit of their own, or one that has one."""

    def __init__(
        self,
        queues: Sequence[str],
        allowance: Allowance | None = None,
        permits: Permits | None = None,
        each: EachValue | None = None,
    ) -> None:
        self.queues = list(queues)
        self.allowance = allowance
        """Of this node."""
        self.permits = permits
        """Of the whole cluster."""
        self.each = each
        """Per value of an input."""
        self.values: dict[Key, list[Value]] = {}
        """By which values those that run are counted."""
        self.in_hand: set[str] = set()
        self.running: set[Key] = set()

    @property
    def used(self) -> int:
        return len(self.in_hand) + len(self.running)

    @property
    def patience(self) -> float:
        """Seconds until it is worth to look again whether there is room."""
        return min([PAUSE, *(item.patience for item in (self.allowance, self.permits) if item is not None)])

    def room(self, free: int) -> int:
        return free if self.allowance is None else min(free, self.allowance.room(self.used))

    def begin(self, mark: str) -> None:
        self.in_hand.add(mark)
        if self.allowance is not None:
            self.allowance.take(1)


def shares_of(node: Node, limits: Mapping[str, Limit], cluster_limits: Mapping[str, Limit]) -> Iterator[Share]:
    free = [queue for queue in node.queues if queue not in limits and queue not in cluster_limits]
    if free:
        yield Share([queue_of(node.tenant, queue) for queue in free])
    for queue in node.queues:
        if queue not in free:
            here, everywhere = limits.get(queue, Limit()), cluster_limits.get(queue, Limit())
            yield Share(
                [queue_of(node.tenant, queue)],
                Allowance(here) if here.of_all else None,
                Permits(node, queue, everywhere) if everywhere.of_all else None,
                EachValue(node, queue, here.each, everywhere.each) if here.each or everywhere.each else None,
            )
