"""An activity that lives on: a container with running children, or one that waits for a bookmark or an effect.

Activities that complete at once never become an activation: most of a burst leaves nothing behind but its journal.
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
    """Execution id: counted in the instance, the same over every attempt."""
    node: Node
    owner: Activation | None
    outer: Scope
    """The scope that the owner ran it in."""
    scope: Scope
    """The scope of its children: `outer`, or one of its own variables inside `outer`."""
    status: int = RUNNING
    flags: int = 0
    attempt: int = 1
    kids: dict[int, Activation] | None = None
    bookmarks: list[str] | None = None
    data: Any = None
    """What the activity itself remembers; JSON-able through its node's `dump` and `load`."""

    def descendants(self) -> list[Activation]:
        """Everything that lives below, nearest first."""
        found: list[Activation] = []
        level = list(self.kids.values()) if self.kids else []
        while level:
            found.extend(level)
            level = [kid for item in level if item.kids for kid in item.kids.values()]
        return found

    def __repr__(self) -> str:
        return f"<Activation {self.id} {self.node.key} {STATUS_NAMES[self.status]}>"
