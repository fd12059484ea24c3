"""Activities that stand in a line and complete at once are run in one go, without the queue between them.

As long as nothing else is in the queue, the next of them would be taken from it at once; as soon as something is (another
branch), the next one is put behind it, as ever: the order of execution is the same. A line has an end, so that the loop
looks at its limits in time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from holdfast.execution import faults
from holdfast.execution.activation import Activation
from holdfast.execution.plan import Node, Op, Step
from holdfast.model.scope import Scope

if TYPE_CHECKING:
    from holdfast.execution.live import LiveInstance

LONGEST = 16


def join(nodes: Sequence[Node], ends: Sequence[bool]) -> None:
    """Let each of these, which follow one another, go on by itself. One that `ends` is followed by none."""
    for place, node in enumerate(nodes):
        line = _line_from(place, nodes, ends)
        if len(line) > 1:
            node.op = _in_one_go(line)


def _line_from(place: int, nodes: Sequence[Node], ends: Sequence[bool]) -> list[tuple[Node, Step]]:
    line: list[tuple[Node, Step]] = []
    for node, end in zip(nodes[place : place + LONGEST], ends[place:], strict=False):
        if node.step is None:
            break
        line.append((node, node.step))
        if end:
            break
    return line


def _in_one_go(line: Sequence[tuple[Node, Step]]) -> Op:
    def op(live: LiveInstance, owner: Activation, scope: Scope) -> None:
        queue = live.queue
        for node, step in line:
            try:
                step(live, scope)
            except Exception as error:  # noqa: BLE001 - code of others: whatever it raises is a fault of the activity
                faults.raised(live, node, owner, scope, error)
                return
            if queue or owner.flags:
                break
        node.done(live, owner, scope, None)

    return op
