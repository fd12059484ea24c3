"""Flowchart activity: compiles its activities and passes each completion to the flow mode of the instance."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from holdfast.activities.control.flowchart.counter import CounterFlow
from holdfast.activities.control.flowchart.migration import carry, layout_of
from holdfast.activities.control.flowchart.routes import Routes
from holdfast.activities.control.flowchart.token import TokenFlow
from holdfast.authoring.activity import Activity, Link
from holdfast.authoring.fields import children
from holdfast.authoring.tree import each_link
from holdfast.execution import faults
from holdfast.execution.activation import Activation
from holdfast.execution.builder import NodeBuilder
from holdfast.execution.cancellation import leave_queued
from holdfast.execution.live import LiveInstance
from holdfast.execution.plan import Done, Node, Op, Outcome
from holdfast.model.definition import ActivityNode, Connection
from holdfast.model.graph import flow_graph
from holdfast.model.scope import Scope


class Flowchart(Activity, pure=True, container=True, category="Flow", icon="workflow"):
    """Runs activities joined by connections: `Flowchart(start, connections=[start >> check, check.on("True") >>
    ship])`.
    """

    activities: list[Activity] = children()
    """Activities of the flowchart."""
    start: str | None = None
    """Id of the first activity. Default: derived from the connections."""

    def __init__(self, *activities: Activity, connections: Iterable[Link] = (), **given: Any) -> None:
        self.links = tuple(connections)
        found = {id(item): item for item in activities}
        for link in each_link(self.links):
            found.setdefault(id(link.source), link.source)
            found.setdefault(id(link.target), link.target)
        super().__init__(**({"activities": tuple(found.values())} | given))

    @classmethod
    def compile(cls, builder: NodeBuilder) -> Op:
        chart = _FlowchartNode(builder)
        return chart.op


class _FlowchartNode:
    def __init__(self, builder: NodeBuilder) -> None:
        self.builder = builder
        self.node = builder.node
        self.open = builder.open()
        self.definition = with_delays(builder.definition)
        self._check_connections()
        self.nodes = [
            builder.place(item, self.child_done(position), f"{builder.path}/activities/{position}")
            for position, item in enumerate(self.definition.ports.get("activities", ()))
        ]
        self.positions = {node.index: position for position, node in enumerate(self.nodes)}
        self.terminal = [node.descriptor.terminal for node in self.nodes]
        self.join_modes = [self._join_mode(node) for node in self.nodes]
        self.flows: dict[tuple[str, str | None], CounterFlow | TokenFlow] = {}
        self.usual: dict[str, CounterFlow | TokenFlow] = {}
        """Flow per mode for instances without a trigger. Looked up after each activity, and most instances have no
        trigger.
        """
        self.child_ids = {node.definition.id for node in self.nodes}
        self.node.hooks.kid_canceled = self.kid_canceled
        self.node.hooks.explain = self.explain
        self.node.hooks.schedule = self.schedule_child
        self.node.hooks.layout = lambda live: layout_of(self.flow(live).routes)
        self.node.hooks.carry = carry

    def _check_connections(self) -> None:
        known = {item.id for item in self.definition.ports.get("activities", ()) if isinstance(item, ActivityNode)}
        for number, connection in enumerate(self.definition.connections):
            for end in (connection.source, connection.target):
                if end not in known:
                    self.builder.problem(
                        f"connections/{number}",
                        "unknown-activity",
                        f"A connection names the activity '{end}', which is not in this flowchart.",
                        "Correct the id or remove the connection.",
                    )

    def _join_mode(self, node: Node) -> Any:
        """Evaluator of a join's mode, or None for an activity that is not a join."""
        if node.definition.type != "FlowJoin":
            return None
        return NodeBuilder(self.builder.compiler, node, node.done, self.builder.path).input("mode", "wait_any")

    def flow(self, live: LiveInstance) -> CounterFlow | TokenFlow:
        """The flow for this instance: by its mode and the trigger that started it."""
        usual = self.usual.get(live.flowchart_mode)
        if usual is not None and live.trigger is None:
            return usual
        trigger = live.trigger if live.trigger in self.child_ids else None
        key = (live.flowchart_mode, trigger)
        found = self.flows.get(key)
        if found is None:
            named = self.definition.inputs.get("start")
            begin = trigger or (named if named in self.child_ids else None)
            graph = flow_graph(self.definition, begin, {n.definition.type: n.descriptor for n in self.nodes})
            make = TokenFlow if live.flowchart_mode == "token" else CounterFlow
            found = self.flows[key] = make(Routes(graph, self.nodes), self.nodes, self.join_modes)
            if trigger is None:
                self.usual[live.flowchart_mode] = found
        return found

    # -- events --------------------------------------------------------------------------------------------------------

    def op(self, live: LiveInstance, owner: Activation, scope: Scope) -> None:
        flow = self.flow(live)
        inner = self.open(scope)
        activation = live.activate(self.node, owner, scope, inner)
        activation.data = flow.fresh()
        if flow.routes.start is None:
            live.complete(activation)
        else:
            flow.schedule(live, activation, flow.routes.start)

    def child_done(self, position: int) -> Done:
        def done(live: LiveInstance, owner: Activation, scope: Scope, outcome: Outcome) -> None:
            if owner.status:
                return
            if self.terminal[position]:
                live.complete(owner)
                leave_queued(live, owner)
                return
            try:
                self.flow(live).completed(live, owner, position, outcome)
            except Exception as error:  # noqa: BLE001 - user code: any exception is a fault of the activity
                faults.fault(live, owner, error)

        return done

    def kid_canceled(self, live: LiveInstance, activation: Activation, kid: Activation) -> None:
        self.flow(live).canceled(live, activation, self.positions[kid.node.index])

    def schedule_child(self, live: LiveInstance, activation: Activation, child: Node) -> None:
        self.flow(live).schedule(live, activation, self.positions[child.index])

    def explain(self, live: LiveInstance, activation: Activation) -> list[str]:
        return self.flow(live).explain(activation)


def with_delays(chart: ActivityNode) -> ActivityNode:
    """Replace each connection that has a delay with two connections and a Delay between them."""
    if not any(connection.delay for connection in chart.connections):
        return chart
    connections: list[Connection] = []
    delays: list[ActivityNode] = []
    for number, connection in enumerate(chart.connections):
        if connection.delay is None:
            connections.append(connection)
            continue
        name = f"{connection.source}>{connection.target}#{number}"
        delays.append(ActivityNode(id=name, type="Delay", inputs={"duration": connection.delay}))
        connections.append(Connection(source=connection.source, target=name, outcome=connection.outcome))
        connections.append(Connection(source=name, target=connection.target))
    activities = (*chart.ports.get("activities", ()), *delays)
    return msgspec.structs.replace(
        chart, ports={**chart.ports, "activities": activities}, connections=tuple(connections)
    )
