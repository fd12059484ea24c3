"""Counter mode of flowcharts: every activity with several inbound connections is a join.

Dead paths propagate, so that no join waits for them. Each activity and each connection counts its visits. A connection
is visited when its source completes, whether it is followed or not. An activity without any live inbound path is
skipped, and so are its outbound connections. An activity entered by a backward connection (a loop) does not count that
visit, so that the joins inside the loop balance on each pass.

The state is one list: [visits by activity, visits by connection, last followed by connection, number of running
children, backward passes by activity, queued joins].
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from holdfast.activities.control.flowchart.routes import NOTHING, Routes
from holdfast.errors import ExecutionError
from holdfast.execution.activation import Activation
from holdfast.execution.cancellation import cancel
from holdfast.execution.journal import WAITING
from holdfast.execution.live import LiveInstance
from holdfast.execution.plan import Node, Outcome
from holdfast.model.instance import JournalEvent

VISITS, COUNTS, FOLLOWED, WORKING, BACKWARD, QUEUED = range(6)

WAIT_ALL, WAIT_ACTIVE, WAIT_ANY = "wait_all", "wait_all_active", "wait_any"

RUN, SKIP, WAIT, IGNORE, ASK, LOOP = range(6)

Arrival = tuple[int, int, int, bool]
"""Decision (`ASK`: it depends on the other connections), target, connection, followed."""

SKIPPED = JournalEvent.SKIPPED


class CounterFlow:
    def __init__(self, routes: Routes, nodes: list[Node], join_modes: list[Any]) -> None:
        self.routes = routes
        self.nodes = nodes
        self.join_modes = join_modes
        self.arrivals: list[dict[Outcome, tuple[Arrival, ...]]] = [{} for _ in nodes]
        """Arrivals after each activity, by outcome. Filled on demand."""
        self.ways_in = [[(item, routes.ids[routes.sources[item]]) for item in inbound] for inbound in routes.inbound]

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
        if data[BACKWARD]:
            self._count_visit(data, position)
        else:
            data[VISITS][position] += 1
        if self.join_modes[position] is not None:
            data[QUEUED].remove(position)
            if activation.kids:
                self._cancel_before(live, activation, position)
        arrivals = self.arrivals[position].get(outcome)
        if arrivals is None:
            arrivals = self._arrivals(position, outcome)
        if len(arrivals) == 1 and arrivals[0][0] == RUN:
            # Fast path: one activity ends and one starts, so no counter changes.
            target = arrivals[0][1]
            live.queue.append((self.nodes[target], activation, activation.scope))
            return
        if arrivals:
            self._spread(live, activation, arrivals)
        # Decrement last: cancellations on the way must not see an empty chart.
        data[WORKING] -= 1
        if data[WORKING] == 0 and not activation.status:
            live.complete(activation)

    def canceled(self, live: LiveInstance, activation: Activation, position: int) -> None:
        """Treat a canceled activity as a dead path."""
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

    # -- propagation ---------------------------------------------------------------------------------------------------

    def _spread(self, live: LiveInstance, activation: Activation, leaving: tuple[Arrival, ...]) -> None:
        """Visit the outbound connections. Skipped activities are passed at once, depth first."""
        data = activation.data
        stack: list[Iterator[Arrival]] = []
        arrivals = iter(leaving)
        while True:
            for decision, target, connection, followed in arrivals:
                if decision == ASK:
                    data[COUNTS][connection] += 1
                    data[FOLLOWED][connection] = followed
                    decision = self._decide(live, activation, target, connection)  # noqa: PLW2901 - ASK resolves to the real decision
                if decision == RUN:
                    data[WORKING] += 1
                    if self.join_modes[target] is not None:
                        data[QUEUED].append(target)
                    live.queue.append((self.nodes[target], activation, activation.scope))
                elif decision == SKIP:
                    self._skip(live, activation, target)
                    stack.append(arrivals)
                    arrivals = iter(self._arrivals(target, NOTHING))
                    break
                elif decision == LOOP:
                    self._loop(live, activation, connection)
            else:
                if not stack:
                    return
                arrivals = stack.pop()

    def _arrivals(self, position: int, outcome: Outcome) -> tuple[Arrival, ...]:
        """Arrivals for an outcome.

        At an activity with one inbound connection that is no join, nothing has to be counted.
        """
        found = self.arrivals[position].get(outcome)
        if found is None:
            made: list[Arrival] = []
            for connection, target, followed, backward, _ in self.routes.moves(position, outcome):
                if backward:
                    decision = LOOP if followed else IGNORE
                elif self.join_modes[target] is None and len(self.routes.inbound[target]) == 1:
                    decision = RUN if followed else SKIP
                else:
                    decision = ASK
                if decision != IGNORE:
                    made.append((decision, target, connection, followed))
            found = self.arrivals[position][outcome] = tuple(made)
        return found

    def _skip(self, live: LiveInstance, activation: Activation, target: int) -> None:
        self._count_visit(activation.data, target)
        data = {"reason": "no living path leads here"}
        live.journal.append((SKIPPED, self.nodes[target].index, 0, live.now(), data))

    def _loop(self, live: LiveInstance, activation: Activation, connection: int) -> None:
        source, target = self.routes.sources[connection], self.routes.targets[connection]
        if not self.routes.graph.is_valid_backward(connection):
            raise ExecutionError(
                f"Invalid backward connection: Every path from the source ('{self.routes.ids[source]}') must go through the "
                f"target ('{self.routes.ids[target]}') when tracing back to the start."
            )
        self.schedule(live, activation, target, backward=True)

    def _decide(self, live: LiveInstance, activation: Activation, target: int, connection: int) -> int:
        """Decide what an arrival at an activity means: run it, skip it, or wait for other connections."""
        join = self.join_modes[target]
        mode = WAIT_ACTIVE if join is None else join(activation.scope)
        if mode == WAIT_ANY:
            return self._decide_any(live, activation, target, connection)
        data = activation.data
        counts, followed, visits = data[COUNTS], data[FOLLOWED], data[VISITS][target]
        inbound = self.routes.inbound[target]
        highest, alive = visits, 0
        for item in inbound:
            count = counts[item]
            if count <= visits:
                if followed[connection] or self._is_awaited(data, target):
                    missing = {"for": self._missing(data, target)}
                    live.journal.append((WAITING, self.nodes[target].index, 0, live.now(), missing))
                return WAIT
            if count > highest:
                highest, alive = count, 0
            if followed[item] and count == highest:
                alive += 1
        return RUN if alive >= (len(inbound) if mode == WAIT_ALL else 1) else SKIP

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
        """The first branch has won: cancel everything that still runs upstream of this join."""
        before = self.routes.ancestors(position)
        ancestors = {self.nodes[item].index for item in before}
        for kid in [kid for kid in (activation.kids or {}).values() if kid.node.index in ancestors]:
            cancel(live, kid)

    # -- explanations --------------------------------------------------------------------------------------------------

    def _is_awaited(self, data: list[Any], target: int) -> bool:
        """Whether a live path has arrived. Dead paths wait for nothing."""
        counts, followed, visits = data[COUNTS], data[FOLLOWED], data[VISITS][target]
        for item in self.routes.inbound[target]:  # noqa: SIM110 - a generator is slower on this hot path
            if followed[item] and counts[item] > visits:
                return True
        return False

    def _missing(self, data: list[Any], target: int) -> list[str]:
        counts, visits = data[COUNTS], data[VISITS][target]
        return [source for way, source in self.ways_in[target] if counts[way] <= visits]

    def explain(self, activation: Activation) -> list[str]:
        data = activation.data
        reasons = []
        for position, inbound in enumerate(self.routes.inbound):
            visits = data[VISITS][position]
            if any(data[COUNTS][item] > visits for item in inbound) and position not in data[QUEUED]:
                missing = self._missing(data, position)
                if missing:
                    reasons.append(f"'{self.routes.ids[position]}' waits for {', '.join(missing)}.")
        return reasons
