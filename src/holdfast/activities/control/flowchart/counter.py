"""Counter mode: every activity with several ways in is a join, and dead paths are followed so that no join waits for them.

Each activity and each connection counts its visits. A connection is visited when its source completes, followed or not; an
activity that no living way leads to any more is skipped, and so are the connections that leave it. An activity entered by a
backward connection (a loop) does not count that visit, so that the joins inside the loop balance on each pass.

The state, one list: [visits by activity, visits by connection, last followed by connection, children at work, passes that
came backward by activity, joins that are queued].
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from holdfast.activities.control.flowchart.routes import NOTHING, Move, Routes
from holdfast.errors import ExecutionError
from holdfast.execution.activation import Activation
from holdfast.execution.cancellation import cancel
from holdfast.execution.live import LiveInstance
from holdfast.execution.plan import Node, Outcome
from holdfast.model.instance import JournalEvent

VISITS, COUNTS, FOLLOWED, WORKING, BACKWARD, QUEUED = range(6)

WAIT_ALL, WAIT_ACTIVE, WAIT_ANY = "wait_all", "wait_all_active", "wait_any"

RUN, SKIP, WAIT, IGNORE = range(4)


class CounterFlow:
    def __init__(self, routes: Routes, nodes: list[Node], join_modes: list[Any]) -> None:
        self.routes = routes
        self.nodes = nodes
        self.join_modes = join_modes

    def fresh(self) -> list[Any]:
        connections = self.routes.connection_count
        return [[0] * len(self.nodes), [0] * connections, [False] * connections, 0, {}, []]

    # -- events --------------------------------------------------------------------------------------------------------

    def schedule(self, live: LiveInstance, activation: Activation, position: int, *, backward: bool = False) -> None:
        data = activation.data
        data[WORKING] += 1
        if backward:
            key = str(position)
            data[BACKWARD][key] = data[BACKWARD].get(key, 0) + 1
        if self.join_modes[position] is not None:
            data[QUEUED].append(position)
        live.queue.append((self.nodes[position], activation, activation.scope))

    def completed(self, live: LiveInstance, activation: Activation, position: int, outcome: Outcome) -> None:
        data = activation.data
        self._count_visit(data, position)
        if self.join_modes[position] is not None:
            data[QUEUED].remove(position)
            if activation.kids:
                self._cancel_before(live, activation, position)
        self._spread(live, activation, position, outcome)
        # Counted down last: what was canceled on the way must not take the chart for empty.
        data[WORKING] -= 1
        if data[WORKING] == 0 and not activation.status:
            live.complete(activation)

    def canceled(self, live: LiveInstance, activation: Activation, position: int) -> None:
        """A canceled activity is a dead path from here on."""
        if self.join_modes[position] is not None and position not in activation.data[QUEUED]:
            activation.data[QUEUED].append(position)
        self.completed(live, activation, position, NOTHING)

    def _count_visit(self, data: list[Any], position: int) -> None:
        backward: dict[str, int] = data[BACKWARD]
        if backward:
            key = str(position)
            passes = backward.get(key, 0)
            if passes:
                if passes == 1:
                    del backward[key]
                else:
                    backward[key] = passes - 1
                return
        data[VISITS][position] += 1

    # -- moving on -----------------------------------------------------------------------------------------------------

    def _spread(self, live: LiveInstance, activation: Activation, position: int, outcome: Outcome) -> None:
        """Visit what leaves an activity; skipped activities are gone through at once, depth first."""
        counts, followed_by = activation.data[COUNTS], activation.data[FOLLOWED]
        stack: list[Iterator[Move]] = []
        moves: Iterator[Move] = iter(self.routes.moves(position, outcome))
        while True:
            for connection, target, followed, backward, valid in moves:
                counts[connection] += 1
                followed_by[connection] = followed
                if backward:
                    if followed:
                        self._loop(live, activation, connection, valid=valid)
                    continue
                decision = self._decide(live, activation, target, connection)
                if decision == RUN:
                    self.schedule(live, activation, target)
                elif decision == SKIP:
                    self._skip(live, activation, target)
                    stack.append(moves)
                    moves = iter(self.routes.moves(target, NOTHING))
                    break
            else:
                if not stack:
                    return
                moves = stack.pop()

    def _skip(self, live: LiveInstance, activation: Activation, target: int) -> None:
        self._count_visit(activation.data, target)
        data = {"reason": "no living path leads here"}
        live.journal.append((JournalEvent.SKIPPED, self.nodes[target].index, 0, live.now(), data))

    def _loop(self, live: LiveInstance, activation: Activation, connection: int, *, valid: bool) -> None:
        source, target = self.routes.sources[connection], self.routes.targets[connection]
        if not valid:
            raise ExecutionError(
                f"Invalid backward connection: Every path from the source ('{self.routes.ids[source]}') must go through the "
                f"target ('{self.routes.ids[target]}') when tracing back to the start."
            )
        self.schedule(live, activation, target, backward=True)

    def _decide(self, live: LiveInstance, activation: Activation, target: int, connection: int) -> int:
        """What an arrival at an activity means: run it, skip it, or wait for the others."""
        data = activation.data
        inbound = self.routes.inbound[target]
        join = self.join_modes[target]
        followed = data[FOLLOWED]
        if join is None:
            if len(inbound) == 1:
                return RUN if followed[connection] else SKIP
            mode = WAIT_ACTIVE
        else:
            mode = join(activation.scope)
            if mode == WAIT_ANY:
                return self._decide_any(live, activation, target, connection)
        counts, visits = data[COUNTS], data[VISITS][target]
        highest = 0
        for item in inbound:
            count = counts[item]
            if count <= visits:
                self._note_wait(live, activation, target)
                return WAIT
            highest = max(highest, count)
        for item in inbound:
            arrived = followed[item] and counts[item] == highest
            if arrived != (mode == WAIT_ALL):
                return RUN if arrived else SKIP
        return RUN if mode == WAIT_ALL else SKIP

    def _decide_any(self, live: LiveInstance, activation: Activation, target: int, connection: int) -> int:
        data = activation.data
        counts, followed, visits = data[COUNTS], data[FOLLOWED], data[VISITS][target]
        if counts[connection] <= visits or target in data[QUEUED]:
            return IGNORE
        inbound = self.routes.inbound[target]
        highest = max(counts[item] for item in inbound)
        if any(followed[item] and counts[item] == highest for item in inbound):
            self.schedule(live, activation, target)
            self._cancel_before(live, activation, target)
            return IGNORE
        return SKIP if min(counts[item] for item in inbound) > visits else WAIT

    def _cancel_before(self, live: LiveInstance, activation: Activation, position: int) -> None:
        """The first has won: whatever still runs on the way to this join is canceled."""
        before = self.routes.ancestors(position)
        ancestors = {self.nodes[item].index for item in before}
        for kid in [kid for kid in (activation.kids or {}).values() if kid.node.index in ancestors]:
            cancel(live, kid)

    # -- telling why ---------------------------------------------------------------------------------------------------

    def _missing(self, activation: Activation, target: int) -> list[str]:
        data = activation.data
        visits = data[VISITS][target]
        return [
            self.routes.ids[self.routes.sources[item]]
            for item in self.routes.inbound[target]
            if data[COUNTS][item] <= visits
        ]

    def _note_wait(self, live: LiveInstance, activation: Activation, target: int) -> None:
        live.journal.append(
            (JournalEvent.WAITING, self.nodes[target].index, 0, live.now(), {"for": self._missing(activation, target)})
        )

    def explain(self, activation: Activation) -> list[str]:
        data = activation.data
        reasons = []
        for position, inbound in enumerate(self.routes.inbound):
            visits = data[VISITS][position]
            if any(data[COUNTS][item] > visits for item in inbound) and position not in data[QUEUED]:
                missing = self._missing(activation, position)
                if missing:
                    reasons.append(f"'{self.routes.ids[position]}' waits for {', '.join(missing)}.")
        return reasons
