"""Function: a compiled Python function, either a whole workflow or a workflow called by another."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from holdfast.activities.code.flow import RETURNING, block_of, complete_traceback, frame_around, leave, text_of
from holdfast.authoring.activity import Activity
from holdfast.authoring.fields import field, output, port
from holdfast.execution.activation import Activation
from holdfast.execution.builder import NodeBuilder
from holdfast.execution.composite import UNSET
from holdfast.execution.frames import RESULT, FrameShape, MissingReference
from holdfast.execution.heap.tracebacks import prepend_entry
from holdfast.execution.heap.tracked_scope import mention
from holdfast.execution.journal import COMPLETED
from holdfast.execution.live import LiveInstance
from holdfast.execution.plan import Op, Outcome
from holdfast.model.scope import Names, Scope
from holdfast.model.values import decode
from holdfast.model.values.registry import is_registrable


class Function(Activity, pure=True, container=True, category="Code", icon="square-function", browsable=False):
    """Runs the body of a workflow function. Its variables are the function's names; its result is the return value."""

    uses: Any = field(default=None, evaluated=False)
    """Globals that the code uses, as JSON text in a `$code` because they are imported: `{"total": {"of":
    "shop.prices:total"}, "LIMIT": {"value": 10}}`.
    """
    parameters: list[str] = field(default=())
    """Names of the function's parameters."""
    arguments: dict[str, Any] | None = field(default=None, evaluated=False)
    """Arguments of a call. Without them, the parameters are the workflow's inputs."""
    defaults: dict[str, Any] = field(default=())
    """Default values of parameters, encoded."""
    body: Activity | None = port()
    result: Any = output()
    """Return value of the function."""

    @classmethod
    def compile(cls, builder: NodeBuilder) -> Op:
        return FunctionNode(builder).op


class FunctionNode:
    def __init__(self, builder: NodeBuilder) -> None:
        self.node = node = builder.node
        self.line = int(builder.definition.metadata.get("line", 1))
        self.put = builder.output("result")
        self.arguments = block_of(builder, "arguments") if builder.has_input("arguments") else None
        self.given = self._inputs(builder) if self.arguments is None else {}
        self.defaults: Mapping[str, Any] = (builder.literal("defaults", {}) or {}) if self.arguments is not None else {}
        self.shape = _frame(builder)
        node.shape = builder.compiler.plan.shapes[node.key] = self.shape
        node.inner = Names((self.shape, *node.names.shapes))
        self.result = self.shape.names[RESULT]
        node.hooks.stop = self.stop
        node.hooks.fault = self.fault
        self.body = builder.child("body", self.body_done)

    @staticmethod
    def _inputs(builder: NodeBuilder) -> dict[str, tuple[int, int]]:
        names = [str(name) for name in builder.literal("parameters", ())]
        return {name: place for name in names if (place := builder.node.names.input(name)) is not None}

    def op(self, live: LiveInstance, owner: Activation, scope: Scope) -> None:
        inner = self.shape.open(scope)
        names = self.shape.names
        for name, data in self.defaults.items():
            inner[names[name]] = decode(data, live.plan.types)
        if self.arguments is not None:
            for name, value in self.arguments(live, owner, scope).items():
                inner[names[name]] = value
        for name, (hops, index) in self.given.items():
            level = scope
            for _ in range(hops):
                level = level[0]
            inner[names[name]] = level[index]
        activation = live.activate(self.node, owner, scope, inner)
        if self.body is None:
            self.body_done(live, activation, inner, None)
        else:
            live.queue.append((self.body, activation, inner))

    def body_done(self, live: LiveInstance, owner: Activation, scope: Scope, outcome: Outcome) -> None:
        mention(owner.scope, self.result)
        value = owner.scope[self.result]
        self.put(live, owner.outer, None if value is UNSET else value)
        live.complete(owner)

    def stop(self, live: LiveInstance, activation: Activation, flag: int) -> bool:
        """`return` ends here. No other jump reaches a function."""
        return True

    def fault(self, live: LiveInstance, activation: Activation, failed: Activation, error: BaseException) -> bool:
        """Add the line of the call to the traceback, as Python shows it. A function catches nothing."""
        complete_traceback(activation, failed, error)
        caller = frame_around(activation.outer)
        if caller is not None:
            error.__traceback__ = prepend_entry(error.__traceback__, caller.file, self.line, caller.function)
        return False


def _frame(builder: NodeBuilder) -> FrameShape:
    node = builder.node
    uses: Mapping[str, Any] = {}
    if builder.has_input("uses"):
        uses = json.loads(text_of(builder.definition.inputs["uses"], f"{node.key}.uses"))
    file = str(builder.definition.metadata.get("file", "<workflow>"))
    try:
        name, types = str(builder.definition.name or node.key), builder.compiler.plan.types
        shape = FrameShape(node.key, function=name, file=file, uses=uses, types=types)
    except MissingReference as error:
        builder.problem(
            "inputs/uses",
            "missing-reference",
            f"The stored function '{builder.definition.name}' needs '{error}', which this process cannot import.",
            "Deploy the module that defines it, keep the old name as an alias, or migrate the instances.",
        )
        shape = FrameShape(node.key, function="", file=file, uses={})
    for variable in builder.definition.variables:
        shape.declare(variable.name, variable.type)
    plan = builder.compiler.plan
    named = [found for found in shape.references.values() if is_registrable(found) and found not in plan.types]
    if named:
        plan.types = plan.types.including(*named)  # values may be instances of any class that the code names
    return shape


class Return(Activity, pure=True, terminal=True, category="Code", icon="corner-down-left", browsable=False):
    """Ends the function with a value."""

    value: Any = field(default=None, evaluated=False)
    """Return value of the function."""

    @classmethod
    def compile(cls, builder: NodeBuilder) -> Op:
        index, done = builder.node.index, builder.done
        value_of = block_of(builder, "value")

        def op(live: LiveInstance, owner: Activation, scope: Scope) -> None:
            n = live.sequence = live.sequence + 1
            leave(live, owner, scope, ("return", value_of(live, owner, scope)))
            live.journal.append((COMPLETED, index, n, live.now(), None))
            done(live, owner, scope, None)

        return op


__all__ = ["RETURNING", "Function", "FunctionNode", "Return"]
