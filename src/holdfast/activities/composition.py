"""Composition: variable scopes, composites written in Python, and child workflow instances."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from holdfast.authoring.activity import Activity, declared
from holdfast.authoring.fields import output, port
from holdfast.authoring.tree import TreeReader
from holdfast.errors import ActivityDeclarationError, ActivityFault
from holdfast.execution.activation import Activation
from holdfast.execution.builder import NodeBuilder
from holdfast.execution.live import ChildStart, LiveInstance
from holdfast.execution.plan import Op, Outcome
from holdfast.execution.record import NewBookmark
from holdfast.model.definition import Definition, InputDeclaration, OutputDeclaration
from holdfast.model.instance import Bookmark, BookmarkKind, JournalEvent
from holdfast.model.module_names import public_name
from holdfast.model.scope import Scope as VariableScope
from holdfast.model.types import convert


class Scope(Activity, pure=True, container=True, category="Composition", icon="box"):
    """Runs its body with variables of its own."""

    body: Activity | None = port()

    @classmethod
    def compile(cls, builder: NodeBuilder) -> Op:
        node, open_scope = builder.node, builder.open()

        def body_done(live: LiveInstance, owner: Activation, scope: VariableScope, outcome: Outcome) -> None:
            live.complete(owner)

        body = builder.child("body", body_done)
        if body is None:
            return builder.leaf(lambda live, scope: None)
        child = body

        def op(live: LiveInstance, owner: Activation, scope: VariableScope) -> None:
            inner = open_scope(scope)
            live.queue.append((child, live.activate(node, owner, scope, inner), inner))

        return op


class Composite(Activity, abstract=True):
    """Activity built from other activities.

    `build` returns the body. Expressions in the body can use the fields of the class by name.

    class Greet(Composite):
        who: str

        @classmethod
        def build(cls) -> Activity:
            return WriteLine(expr("'Hello ' + who"))
    """

    variables_of: ClassVar[Mapping[str, Any]] = {}
    """Variables of the body, with their defaults."""

    def __init_subclass__(cls, **given: Any) -> None:
        options: dict[str, Any] = {"pure": True, "container": True, "category": "Composites"}
        super().__init_subclass__(**(options | given))

    @classmethod
    def build(cls) -> Activity:
        raise ActivityDeclarationError(f"{cls.__name__} has no build() method that returns its body.")

    @classmethod
    def compile(cls, builder: NodeBuilder) -> Op:
        descriptor = builder.node.descriptor
        reader = TreeReader()
        body = reader.node(cls.build())
        builder.compiler.add_types(reader.activity_types)
        definition = Definition(
            id=public_name(cls),
            name=cls.type_name,
            root=body,
            inputs=tuple(
                InputDeclaration(name=item.name, type=item.type, default=item.default) for item in descriptor.inputs
            ),
            outputs=tuple(OutputDeclaration(name=item.name, type=item.type) for item in descriptor.outputs),
            variables=declared(cls.variables_of),
            outcomes=descriptor.outcomes,
        )
        builder.compiler.composite(builder.node, definition, builder.path, builder.definition.inputs)
        builder.node.descriptor = descriptor
        return builder.node.op


class ExecuteWorkflow(Activity, pure=True, category="Composition", icon="workflow"):
    """Starts another workflow as a separate instance and waits for it.

    With `wait`, waits until the instance has ended; otherwise only until it suspends for the first time. The result is
    `{"instance_id", "status", "outputs"}`.
    """

    workflow: str
    """Definition id or name of the workflow to start."""
    input: dict[str, Any] | None = None
    """Inputs of the new instance."""
    correlation_id: str | None = None
    """Correlation id of the new instance. Default: the correlation id of this instance."""
    wait: bool = False
    """Wait until the instance has ended."""
    result: Any = output()
    """`{"instance_id", "status", "outputs"}` of the new instance."""

    @staticmethod
    def given(ended: Mapping[str, Any]) -> Any:
        """Result of a child that has ended. Raises if the child's failure is a failure of this activity."""
        return ended

    @classmethod
    def compile(cls, builder: NodeBuilder) -> Op:
        node, given = builder.node, cls.given
        workflow_of, input_of = builder.input("workflow"), builder.input("input")
        correlation_of, wait_of = builder.input("correlation_id"), builder.input("wait", default=False)
        put = builder.output("result")

        def resume(live: LiveInstance, activation: Activation, bookmark: Bookmark, payload: Any) -> None:
            if isinstance(payload, Mapping) and payload.get("refused"):
                raise ActivityFault(str(payload["refused"]), category="Composition")
            put(live, activation.outer, given(_result(live, payload)))
            live.complete(activation)

        node.hooks.resume = resume

        def op(live: LiveInstance, owner: Activation, scope: VariableScope) -> None:
            given = input_of(scope)
            start: dict[str, Any] = {
                "reference": str(workflow_of(scope)),
                "input": {} if given is None else dict(convert(given, "object")),
                "wait": bool(wait_of(scope)),
                "correlation_id": correlation_of(scope) or live.correlation_id,
            }
            activation = live.activate(node, owner, scope)
            child_id = f"{live.id}-{activation.id}"
            live.bookmark(activation, NewBookmark(payload={"child": child_id}), BookmarkKind.CHILD)
            live.child_starts = (*live.child_starts, ChildStart(activation.id, instance_id=child_id, **start))

        return op


class DispatchWorkflow(ExecuteWorkflow, pure=True, category="Composition", icon="send"):
    """Starts another workflow as a separate instance and continues at once, or waits for its end with `wait`.

    The result is `{"instance_id", "status", "outputs"}`. Without `wait`, status is `pending`, and the new instance is
    detached: canceling this instance does not cancel it.
    """

    @classmethod
    def compile(cls, builder: NodeBuilder) -> Op:
        waiting = super().compile(builder)
        node, put, done = builder.node, builder.output("result"), builder.done
        workflow_of, input_of = builder.input("workflow"), builder.input("input")
        correlation_of, wait_of = builder.input("correlation_id"), builder.input("wait", default=False)

        def op(live: LiveInstance, owner: Activation, scope: VariableScope) -> None:
            if wait_of(scope):
                waiting(live, owner, scope)
                return
            n = live.sequence = live.sequence + 1
            child_id, given = f"{live.id}-{n}", input_of(scope)
            start = ChildStart(
                n,
                str(workflow_of(scope)),
                {} if given is None else dict(convert(given, "object")),
                wait=False,
                correlation_id=correlation_of(scope) or live.correlation_id,
                instance_id=child_id,
                detached=True,
            )
            live.child_starts = (*live.child_starts, start)
            put(live, scope, _result(live, {"instance_id": child_id, "status": "pending", "outputs": {}}))
            live.journal.append((JournalEvent.COMPLETED, node.index, n, live.now(), {"instance_id": child_id}))
            done(live, owner, scope, None)

        return op


def _result(live: LiveInstance, payload: Mapping[str, Any]) -> Mapping[str, Any]:
    return {**payload, **with_elsa_names(payload)} if "elsa" in live.plan.definition.metadata else payload


def with_elsa_names(payload: Mapping[str, Any]) -> dict[str, Any]:
    """The result with Elsa's property names, which Elsa expressions read with either case of the first letter."""
    status = str(payload["status"])
    ended = status in ("finished", "faulted", "canceled")
    words = {
        "WorkflowInstanceId": payload["instance_id"],
        "Status": "Finished" if ended else "Running",
        "SubStatus": "Cancelled" if status == "canceled" else status.capitalize(),
        "Output": payload["outputs"],
    }
    return {**words, **{name[0].lower() + name[1:]: value for name, value in words.items() if name != "Status"}}


ACTIVITIES = (Scope, ExecuteWorkflow, DispatchWorkflow)
