"""Straight lines: consecutive activities that complete at once run in one operation, without the queue between them.

While the queue is empty, the next activity of the line would be taken from it at once. As soon as it is not empty
(another branch runs), the next activity is queued behind it, so the order of execution does not change. The length of a
line is limited, so that the segment loop checks its limits in time.

A container that consists of one line gets no activation, unless one of its activities fails.
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

MAX_LENGTH = 16

Line = list[tuple[Node, Step]]


def join(nodes: Sequence[Node], ends: Sequence[bool]) -> Line | None:
    """Let consecutive nodes run as straight lines. A node that `ends` has no successor.

    Returns the line of all nodes, if they form a single line.
    """
    whole = _line_from(0, nodes, ends)
    for place, node in enumerate(nodes):
        line = _line_from(place, nodes, ends)
        if len(line) > 1:
            node.op = _line_operation(line)
    return whole if len(whole) == len(nodes) else None


def _line_from(place: int, nodes: Sequence[Node], ends: Sequence[bool]) -> Line:
    line: Line = []
    for node, end in zip(nodes[place : place + MAX_LENGTH], ends[place:], strict=False):
        if node.step is None:
            break
        line.append((node, node.step))
        if end:
            break
    return line


def _line_operation(line: Line) -> Op:
    def op(live: LiveInstance, owner: Activation, scope: Scope) -> None:
        queue = live.queue
        for node, step in line:
            try:
                step(live, scope)
            except Exception as error:  # noqa: BLE001 - user code: any exception is a fault of the activity
                faults.handle_exception(live, node, owner, scope, error)
                return
            if queue or owner.flags:
                break
        node.done(live, owner, scope, None)

    return op


def container(node: Node, line: Line, done: Done, open_scope: Callable[[Scope], Scope], otherwise: Op) -> Op:
    """Operation of a container that consists of `line`. `otherwise` is the operation that uses the queue."""
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
            except Exception as error:  # noqa: BLE001 - user code: any exception is a fault of the activity
                faults.handle_exception(live, child, live.adopt(Activation(n, node, owner, scope, inner)), inner, error)
                return
        journal.append((ENDED, index, n, journal[-1][3], None))
        done(live, owner, scope, None)

    return op
