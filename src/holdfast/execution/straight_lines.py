"""Activities that stand in a line and complete at once are run in one go, without the queue between them.

As long as nothing else is in the queue, the next of them would be taken from it at once; as soon as something is (another
branch), the next one is put behind it, as ever: the order of execution is the same. A line has an end, so that the loop
looks at its limits in time.

A container that is one line and nothing else leaves nothing behind either, unless one of its activities fails: only then it
gets the activation that it would have had.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from holdfast.execution import faults
from holdfast.execution.activation import Activation
from holdfast.execution.journal import COMPLETED as ENDED, STARTED
from holdfast.execution.plan import Done, Node, Op, Step
from holdfast.model.scope import Scope

if TYPE_CHECKING:
    from holdfast.execution.live import LiveInstance

LONGEST = 16

Line = list[tuple[Node, Step]]


def join(nodes: Sequence[Node], ends: Sequence[bool]) -> Line | None:
    """Let each of these, which follow one another, go on by itself. One that `ends` is followed by none.

    The line that is all of them, if there is one.
    """
    whole = _line_from(0, nodes, ends)
    for place, node in enumerate(nodes):
        line = _line_from(place, nodes, ends)
        if len(line) > 1:
            node.op = _in_one_go(line)
    return whole if len(whole) == len(nodes) else None


def _line_from(place: int, nodes: Sequence[Node], ends: Sequence[bool]) -> Line:
    line: Line = []
    for node, end in zip(nodes[place : place + LONGEST], ends[place:], strict=False):
        if node.step is None:
            break
        line.append((node, node.step))
        if end:
            break
    return line


def _in_one_go(line: Line) -> Op:
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


def container(node: Node, line: Line, done: Done, open_scope: Callable[[Scope], Scope], otherwise: Op) -> Op:
    """The operation of a container of which `line` is all; `otherwise` is the one that goes through the queue."""
    index = node.index

    def op(live: LiveInstance, owner: Activation, scope: Scope) -> None:
        if live.queue or live.retrying is not None:
            otherwise(live, owner, scope)
            return
        n = live.sequence = live.sequence + 1
        inner, journal = open_scope(scope), live.journal
        journal.append((STARTED, index, n, journal[-1][3] if journal else live.now(), None))
        for child, step in line:
            try:
                step(live, inner)
            except Exception as error:  # noqa: BLE001 - code of others: whatever it raises is a fault of the activity
                faults.raised(live, child, live.adopt(Activation(n, node, owner, scope, inner)), inner, error)
                return
        journal.append((ENDED, index, n, journal[-1][3], None))
        done(live, owner, scope, None)

    return op
