"""Activation: an activity that outlives its own execution.

Containers with running children and activities that wait for a bookmark or an effect have an activation. Activities
that complete at once have none; they leave only journal entries.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct

from holdfast.model.scope import Scope

if TYPE_CHECKING:
    from holdfast.execution.plan import Node

RUNNING = 0
COMPLETED = 1
FAULTED = 2
CANCELED = 3

STATUS_NAMES = ("running", "completed", "faulted", "canceled")

BREAKING = 1
CONTINUING = 2


class Activation(Struct, eq=False):
    id: int
    """Execution id: unique in the instance, and the same for every attempt."""
    node: Node
    owner: Activation | None
    outer: Scope
    """Scope in which the owner ran it."""
    scope: Scope
    """Scope of its children: `outer`, or a scope with its own variables inside `outer`."""
    status: int = RUNNING
    flags: int = 0
    attempt: int = 1
    kids: dict[int, Activation] | None = None
    bookmarks: list[str] | None = None
    data: Any = None
    """State of the activity. The node's `dump` and `load` convert it to and from JSON."""

    def descendants(self) -> list[Activation]:
        """All activations below, nearest first."""
        found: list[Activation] = []
        level = list(self.kids.values()) if self.kids else []
        while level:
            found.extend(level)
            level = [kid for item in level if item.kids for kid in item.kids.values()]
        return found

    def __repr__(self) -> str:
        return f"<Activation {self.id} {self.node.key} {STATUS_NAMES[self.status]}>"
