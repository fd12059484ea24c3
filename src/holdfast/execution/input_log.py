"""Input log: the values of the inputs of a built-in activity, for its journal entry.

Activities that compile themselves evaluate their inputs one by one. The log keeps each value as it is evaluated, and adds all
of them to the entry of the execution. The journal policy then decides which of them are stored.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from holdfast.execution.activation import Activation
from holdfast.execution.journal import COMPLETED, STARTED, masked
from holdfast.execution.plan import Node, Op, Step
from holdfast.model.scope import Scope

if TYPE_CHECKING:
    from holdfast.execution.live import LiveInstance

Evaluate = Callable[[Scope], Any]

_ENTRIES = (STARTED, COMPLETED)


class InputLog:
    """The inputs of one node. Segments are synchronous, so one execution of a node is logged at a time."""

    __slots__ = ("_given", "_node", "_watches")

    def __init__(self, node: Node) -> None:
        self._node = node
        self._given: dict[str, Any] = {}
        self._watches = False

    def watch(self, name: str, evaluate: Evaluate) -> Evaluate:
        """Keep the values of this input."""
        self._watches, given = True, self._given

        def evaluated(scope: Scope) -> Any:
            value = given[name] = evaluate(scope)
            return value

        return evaluated

    def around_op(self, op: Op) -> Op:
        if not self._watches:
            return op

        def logged(live: LiveInstance, owner: Activation, scope: Scope) -> None:
            self._given.clear()
            before = len(live.journal)
            op(live, owner, scope)
            self._attach(live, before)

        return logged

    def around_step(self, step: Step) -> Step:
        if not self._watches:
            return step

        def logged(live: LiveInstance, scope: Scope) -> None:
            self._given.clear()
            before = len(live.journal)
            step(live, scope)
            self._attach(live, before)

        return logged

    def _attach(self, live: LiveInstance, before: int) -> None:
        """Add the inputs to the first entry of this execution that starts or completes it."""
        if not self._given:
            return
        journal, index = live.journal, self._node.index
        for place in range(before, len(journal)):
            event, node, execution_id, at, data = journal[place]
            if node == index and event in _ENTRIES:
                more = data if isinstance(data, dict) else {} if data is None else {"outcomes": data}
                journal[place] = (event, node, execution_id, at, {"inputs": masked(self._node, self._given), **more})
                break
        self._given.clear()
