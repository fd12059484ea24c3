"""Composite nodes: the root workflow of a plan, and workflows used as activities inside it.

Inputs, outputs and variables of a composite share one scope, which bounds the names that its activities can see. A
composite runs in the instance of the surrounding workflow: no separate instance, no extra commit.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from holdfast.execution.activation import Activation
from holdfast.execution.builder import NodeBuilder
from holdfast.execution.cancellation import cleanup_done
from holdfast.execution.plan import Node, Outcome
from holdfast.execution.typed_values import add_check, check_slot, result_check
from holdfast.model.definition import ActivityNode, Definition
from holdfast.model.descriptor import ActivityDescriptor, InputDescriptor, Kind, OutputDescriptor
from holdfast.model.problem import Problem
from holdfast.model.scope import Names, Scope, Shape, write
from holdfast.ports import DefinitionSource

if TYPE_CHECKING:
    from holdfast.execution.compiler import Compiler
    from holdfast.execution.live import LiveInstance


class Unset:
    """Marks an output that is not set."""

    __slots__ = ()

    def __deepcopy__(self, memo: Any) -> Unset:
        return self

    def __repr__(self) -> str:
        return "<unset>"


UNSET = Unset()
FUNCTION = "Function"
"""Type of the root of a workflow that is written as a function."""


def as_workflow_node(definition: Definition) -> ActivityNode:
    return ActivityNode(id="workflow", type="Workflow", name=definition.name)


def find_workflow(source: DefinitionSource | None, activity: ActivityNode) -> Definition | None:
    """The workflow that an activity refers to: by its reference, else by its type name."""
    if source is None:
        return None
    reference = activity.extra.get("workflow")
    if isinstance(reference, str):
        return source.find(reference)
    if isinstance(reference, Mapping):
        for key in ("version_id", "id", "name"):
            name = reference.get(key)
            found = source.find(str(name)) if name else None
            if found is not None:
                return found
    return source.find(activity.type)


def describe_workflow(definition: Definition, type_name: str) -> ActivityDescriptor:
    return ActivityDescriptor(
        type=type_name,
        version=definition.version,
        kind=Kind.PURE,
        display_name=definition.title,
        description=definition.description,
        category=definition.options.activity_category or "Workflows",
        inputs=tuple(
            InputDescriptor(
                name=item.name,
                type=item.type,
                required=item.required,
                default=item.default,
                description=item.description,
            )
            for item in definition.inputs
        ),
        outputs=tuple(OutputDescriptor(name=item.name, type=item.type) for item in definition.outputs),
        outcomes=definition.outcomes or ("Done",),
        any_case=True,
    )


def boundary_shape(compiler: Compiler, key: str, definition: Definition) -> Shape:
    shape = Shape(key, boundary=True)
    compiler.plan.shapes[key] = shape
    for item in definition.inputs:
        index = shape.add(shape.inputs, item.name, item.type, item.default)
        check_slot(compiler.plan, shape, index, f"input '{item.name}' of '{definition.title}'")
    compiler.declare(key, definition.variables, shape)
    for output in definition.outputs:
        index = shape.add(shape.outputs, output.name, output.type, UNSET)
        if definition.root.type == FUNCTION:
            add_check(shape, index, result_check(compiler.plan, definition.title, output.type))
        else:
            check_slot(compiler.plan, shape, index, f"output '{output.name}' of '{definition.title}'")
    return shape


def compile_composite(
    compiler: Compiler, node: Node, definition: Definition, path: str, inputs: Mapping[str, Any]
) -> None:
    builder = NodeBuilder(compiler, node, node.done, path)
    shape = boundary_shape(compiler, node.key, definition)
    given = _bind_inputs(builder, definition, shape, inputs)
    give_back = _bind_outputs(builder, definition, shape)
    node.shape = shape
    node.inner = Names((shape, *node.names.shapes))
    node.composite = True
    node.descriptor = describe_workflow(definition, node.definition.type)

    def finish(live: LiveInstance, activation: Activation, outcome: Outcome) -> None:
        for index, put in give_back:
            value = activation.scope[index]
            if value is not UNSET:
                put(live, activation.outer, value)
        live.complete(activation, outcome)

    def child_done(live: LiveInstance, owner: Activation, scope: Scope, outcome: Outcome) -> None:
        finish(live, owner, None)

    child = compiler.place(definition.root, node, node.inner, child_done, path)

    def op(live: LiveInstance, owner: Activation, scope: Scope) -> None:
        inner = shape.open(scope)
        for index, evaluate in given:
            write(inner, index, evaluate(scope))
        activation = live.activate(node, owner, scope, inner)
        live.queue.append((child, activation, inner))

    node.op = op
    node.hooks.finish = finish
    node.hooks.borrowed = cleanup_done
    node.first = child


def _bind_inputs(
    builder: NodeBuilder, definition: Definition, shape: Shape, inputs: Mapping[str, Any]
) -> list[tuple[int, Any]]:
    """Bind inputs of a workflow used as an activity. Names match without regard to case, as in Elsa."""
    declared = {name.lower(): index for name, index in shape.inputs.items()}
    bound = []
    for name, value in inputs.items():
        index = declared.get(name.lower())
        if index is None:
            listed = ", ".join(shape.inputs) or "none"
            builder.problem(
                f"inputs/{name}", "unknown-input", f"'{definition.title}' has no input '{name}'.", f"It has: {listed}."
            )
        else:
            bound.append((index, builder.compile(value, name).evaluate))
    if builder.node.parent is not None:
        given = {name.lower() for name in inputs}
        for item in definition.inputs:
            if item.required and item.name.lower() not in given:
                builder.compiler.problems.append(
                    Problem(
                        path=f"{builder.path}/inputs/{item.name}",
                        code="missing-input",
                        message=f"'{definition.title}' needs the input '{item.name}'.",
                        remedy="Set a value or an expression.",
                    )
                )
    return bound


def _bind_outputs(builder: NodeBuilder, definition: Definition, shape: Shape) -> list[tuple[int, Any]]:
    wanted = {name.lower(): name for name in builder.definition.outputs}
    return [
        (shape.outputs[output.name], builder.output(wanted.get(output.name.lower(), output.name)))
        for output in definition.outputs
        if builder.node.parent is not None
    ]
