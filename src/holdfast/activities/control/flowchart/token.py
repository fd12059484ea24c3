"""Token mode: each followed connection carries a token, and each activity's merge mode defines how tokens join.

The state is [tokens, number of running children]; a token is [connection, consumed, blocked].
"""

from __future__ import annotations

from typing import Any

from holdfast.activities.control.flowchart.routes import Routes
from holdfast.execution.activation import Activation
from holdfast.execution.cancellation import cancel
from holdfast.execution.live import LiveInstance
from holdfast.execution.plan import Node, Outcome
from holdfast.model.policy import MergeMode

TOKENS, WORKING = range(2)
CONNECTION, CONSUMED, BLOCKED = range(3)

Token = list[Any]


class TokenFlow:
    def __init__(self, routes: Routes, nodes: list[Node], join_modes: list[Any]) -> None:
        self.routes = routes
        self.nodes = nodes
        self.join_modes = join_modes

    def fresh(self) -> list[Any]:
        return [[], 0]

    # -- events --------------------------------------------------------------------------------------------------------

    def schedule(self, live: LiveInstance, activation: Activation, position: int) -> None:
        activation.data[WORKING] += 1
        live.queue.append((self.nodes[position], activation, activation.scope))

    def completed(self, live: LiveInstance, activation: Activation, position: int, outcome: Outcome) -> None:
        data = activation.data
        data[WORKING] -= 1
        followed = [move for move in self.routes.moves(position, outcome) if move[2]]
        tokens: list[Token] = data[TOKENS]
        tokens.extend([move[0], False, False] for move in followed)
        for token in tokens:
            if self._leads_to(token, position) and _is_live(token):
                token[CONSUMED] = True
        for connection, target, *_ in followed:
            self._arrive(live, activation, connection, target)
        if activation.kids and self._mode(activation, position) is MergeMode.RACE:
            # Cancel again: activities that were queued when the race was won have started since.
            self._cancel_before(live, activation, position)
        self._end(live, activation)
        data[TOKENS] = [token for token in data[TOKENS] if not (token[CONSUMED] and self._leads_to(token, position))]

    def canceled(self, live: LiveInstance, activation: Activation, position: int) -> None:
        data = activation.data
        data[WORKING] -= 1
        data[TOKENS] = [
            token
            for token in data[TOKENS]
            if not self._leads_to(token, position) and self.routes.sources[token[CONNECTION]] != position
        ]
        self._end(live, activation)

    def _end(self, live: LiveInstance, activation: Activation) -> None:
        data = activation.data
        if data[WORKING] == 0 and not any(_is_live(token) for token in data[TOKENS]):
            data[TOKENS] = []
            live.complete(activation)

    # -- merging -------------------------------------------------------------------------------------------------------

    def _arrive(self, live: LiveInstance, activation: Activation, connection: int, target: int) -> None:
        mode = self._mode(activation, target)
        inbound = self.routes.inbound[target]
        if mode is MergeMode.MERGE or mode is MergeMode.CONVERGE:
            wanted = inbound if mode is MergeMode.MERGE else self.routes.all_inbound[target]
            if len(wanted) <= 1 or all(self._has_live(activation, item) for item in wanted):
                self.schedule(live, activation, target)
        elif mode is MergeMode.STREAM:
            upstream = {self.routes.sources[item] for item in inbound}
            tokens = activation.data[TOKENS]
            if not any(_is_live(token) and self.routes.targets[token[CONNECTION]] in upstream for token in tokens):
                self.schedule(live, activation, target)
        else:
            if mode is MergeMode.RACE:
                self._cancel_before(live, activation, target)
            self._cascade(live, activation, connection, target)

    def _cascade(self, live: LiveInstance, activation: Activation, connection: int, target: int) -> None:
        tokens: list[Token] = activation.data[TOKENS]
        blocked = next((token for token in tokens if token[CONNECTION] == connection and token[BLOCKED]), None)
        if blocked is not None:
            tokens.remove(blocked)
            arrived = next(token for token in tokens if token[CONNECTION] == connection and _is_live(token))
            arrived[CONSUMED] = True
            return
        self.schedule(live, activation, target)
        tokens.extend([item, False, True] for item in self.routes.inbound[target] if item != connection)

    def _mode(self, activation: Activation, position: int) -> MergeMode:
        own = self.nodes[position].definition.options.merge
        join = self.join_modes[position]
        if own is not None:
            return own
        if join is None:
            return MergeMode.STREAM
        return MergeMode.RACE if join(activation.scope) == "wait_any" else MergeMode.MERGE

    def _cancel_before(self, live: LiveInstance, activation: Activation, position: int) -> None:
        ancestors = {self.nodes[item].index for item in self.routes.ancestors(position)}
        for kid in [kid for kid in (activation.kids or {}).values() if kid.node.index in ancestors]:
            cancel(live, kid)

    # -- tokens --------------------------------------------------------------------------------------------------------

    def _leads_to(self, token: Token, position: int) -> bool:
        return self.routes.targets[token[CONNECTION]] == position

    def _has_live(self, activation: Activation, connection: int) -> bool:
        return any(token[CONNECTION] == connection and _is_live(token) for token in activation.data[TOKENS])

    def explain(self, activation: Activation) -> list[str]:
        waiting = {self.routes.targets[token[CONNECTION]] for token in activation.data[TOKENS] if _is_live(token)}
        reasons = []
        for position in sorted(waiting):
            missing = [
                self.routes.ids[self.routes.sources[item]]
                for item in self.routes.inbound[position]
                if not self._has_live(activation, item)
            ]
            reasons.append(
                f"'{self.routes.ids[position]}' waits for a token from {', '.join(missing) or 'no activity'}."
            )
        return reasons


def _is_live(token: Token) -> bool:
    return not token[CONSUMED] and not token[BLOCKED]
