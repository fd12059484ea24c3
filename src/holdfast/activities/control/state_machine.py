"""StateMachine: states with entry and exit activities, joined by transitions.

In each state, the triggers of all outgoing transitions wait concurrently. The first one with a true condition wins.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from holdfast.activities.control.conditions import decide
from holdfast.authoring.activity import Activity
from holdfast.authoring.fields import entries, output
from holdfast.execution import faults
from holdfast.execution.activation import Activation
from holdfast.execution.builder import NodeBuilder
from holdfast.execution.cancellation import cancel_kids, withdraw
from holdfast.execution.live import LiveInstance
from holdfast.execution.plan import Done, Node, Op, Outcome
from holdfast.model.instance import JournalEvent
from holdfast.model.scope import Scope


class StateMachine(Activity, pure=True, container=True, category="Flow", icon="circle-dot"):
    """Runs a state machine: states with entry and exit activities, and transitions with a trigger, a condition and an
    action.
    """

    states: list[dict[str, Any]] = entries(keys=("name", "entry", "exit"))
    """States: `{"name": "New", "entry": …, "exit": …}`."""
    transitions: list[dict[str, Any]] = entries(keys=("name", "from", "to", "condition", "trigger", "action"))
    """Transitions: `{"name": "pay", "from": "New", "to": "Paid", "trigger": …, "condition": …, "action": …}`."""
    initial: str | None = None
    """Name of the initial state. Default: the first state."""
    current: str = output(display_name="Current state")
    """Name of the current state."""

    @classmethod
    def compile(cls, builder: NodeBuilder) -> Op:
        return _Machine(builder).op


class _State(Struct, kw_only=True):
    name: str
    entry: Node | None = None
    exit: Node | None = None


class _Transition(Struct, kw_only=True):
    name: str
    source: str
    target: str
    condition: Any
    trigger: Node | None = None
    action: Node | None = None


class _Machine:
    """data = {"state": name, "won": position of the winning transition or None}"""

    def __init__(self, builder: NodeBuilder) -> None:
        self.builder = builder
        self.node = builder.node
        self.put = builder.output("current")
        self.initial = builder.literal("initial")
        self.states: dict[str, _State] = {}
        for position, item in enumerate(builder.entries("states")):
            name = str(item.data.get("name", position))
            self.states[name] = _State(
                name=name,
                entry=self._place("states", position, "entry", self.entered),
                exit=self._place("states", position, "exit", self.left),
            )
        self.transitions = [
            self._transition(position, item.data) for position, item in enumerate(builder.entries("transitions"))
        ]

    def _place(self, port: str, position: int, name: str, done: Done) -> Node | None:
        definition = self.builder.entries(port)[position].activities.get(name)
        path = f"{self.builder.path}/{port}/{position}/{name}"
        return self.builder.place(definition, done, path) if definition is not None else None

    def _transition(self, position: int, data: Any) -> _Transition:
        condition = data.get("condition")
        source, target = str(data.get("from")), str(data.get("to"))
        compiled = self.builder.compile(condition, f"transitions/{position}/condition")
        return _Transition(
            name=str(data.get("name") or f"{source}->{target}"),
            source=source,
            target=target,
            condition=decide(compiled) if condition is not None else None,
            trigger=self._place("transitions", position, "trigger", self.triggered(position)),
            action=self._place("transitions", position, "action", self.acted),
        )

    # -- states --------------------------------------------------------------------------------------------------------

    def op(self, live: LiveInstance, owner: Activation, scope: Scope) -> None:
        activation = live.activate(self.node, owner, scope)
        activation.data = {"state": self.initial or next(iter(self.states), None), "won": None}
        self.enter(live, activation)

    def enter(self, live: LiveInstance, activation: Activation) -> None:
        state = self.states.get(activation.data["state"])
        if state is None:
            live.complete(activation)
            return
        self.put(live, activation.outer, state.name)
        live.note(JournalEvent.DECIDED, activation, {"state": state.name})
        if state.entry is None:
            self.arm(live, activation)
        else:
            live.queue.append((state.entry, activation, activation.scope))

    def entered(self, live: LiveInstance, owner: Activation, scope: Scope, outcome: Outcome) -> None:
        if not owner.status:
            self.arm(live, owner)

    def arm(self, live: LiveInstance, activation: Activation) -> None:
        """Schedule the triggers of all transitions that leave the state."""
        state = activation.data["state"]
        armed = [
            item.trigger
            for item in self.transitions
            if item.source == state and item.trigger is not None and item.target in self.states
        ]
        if not armed:
            live.complete(activation)
            return
        live.queue.extend((trigger, activation, activation.scope) for trigger in armed)

    def triggered(self, position: int) -> Done:
        def done(live: LiveInstance, owner: Activation, scope: Scope, outcome: Outcome) -> None:
            transition = self.transitions[position]
            data = owner.data
            if owner.status or data["won"] is not None or data["state"] != transition.source:
                return
            if transition.condition is not None:
                try:
                    answer, saw = transition.condition(owner.scope)
                except Exception as error:  # noqa: BLE001 - user code
                    # A fault of the state machine, not of the trigger, which has completed.
                    faults.fault(live, owner, faults.with_input_name(self.node, error))
                    return
                live.note(JournalEvent.DECIDED, owner, {"transition": transition.name, "answer": answer, "saw": saw})
                if not answer:
                    assert transition.trigger is not None
                    live.queue.append((transition.trigger, owner, owner.scope))
                    return
            data["won"] = position
            cancel_kids(live, owner)
            withdraw(live, [owner])
            if transition.action is not None:
                live.queue.append((transition.action, owner, owner.scope))
            else:
                self.leave(live, owner)

        return done

    def acted(self, live: LiveInstance, owner: Activation, scope: Scope, outcome: Outcome) -> None:
        if not owner.status:
            self.leave(live, owner)

    def leave(self, live: LiveInstance, activation: Activation) -> None:
        state = self.states[activation.data["state"]]
        if state.exit is not None:
            live.queue.append((state.exit, activation, activation.scope))
        else:
            self.move(live, activation)

    def left(self, live: LiveInstance, owner: Activation, scope: Scope, outcome: Outcome) -> None:
        if not owner.status:
            self.move(live, owner)

    def move(self, live: LiveInstance, activation: Activation) -> None:
        transition = self.transitions[activation.data["won"]]
        activation.data = {"state": transition.target, "won": None}
        self.enter(live, activation)
