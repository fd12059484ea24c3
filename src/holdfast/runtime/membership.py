"""The identity of this process in the cluster: node name, owner (name and boot number) and the id generator.

The store assigns the boot number and the worker number when the node registers, so `owner` and `next_id` change once, at
registration. Components read them from here when they need them and never copy them.
"""

from __future__ import annotations

from collections.abc import Callable

from holdfast.errors import StoreError
from holdfast.model.cluster import Registration
from holdfast.model.ids import IdGenerator
from holdfast.model.work import Owner


class Membership:
    __slots__ = ("name", "next_id", "owner")

    def __init__(self, name: str) -> None:
        self.name = name
        self.owner = Owner(name, 0)
        self.next_id: Callable[[], str] = self._not_registered
        """Makes ids of instances and rows; available after registration."""

    def join(self, registration: Registration, now_ns: Callable[[], int]) -> None:
        self.owner = registration.node.owner
        self.next_id = IdGenerator(now_ns, registration.node.worker)

    def _not_registered(self) -> str:
        raise StoreError(f"Node '{self.name}' is not registered yet. Start it first: async with app.")
