"""NodeBuilder: the interface for activity types that compile their nodes themselves.

It gives an activity type its inputs as evaluators, its outputs as setters and its children as nodes. The built-in
control flow uses nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from holdfast.execution.activation import Activation
from holdfast.execution.input_log import InputLog
from holdfast.execution.plan import Done, Node, Op, Outcome, Step
from holdfast.execution.typed_values import Check, type_check
from holdfast.model import values
from holdfast.model.definition import ActivityNode, Expression, PortEntry
from holdfast.model.instance import JournalEvent
from holdfast.model.problem import Problem
from holdfast.model.scope import Names, Scope, Shape
from holdfast.ports import CompiledExpression, CompiledScript

if TYPE_CHECKING:
    from holdfast.execution.compiler import Compiler
    from holdfast.execution.live import LiveInstance

COMPLETED = JournalEvent.COMPLETED
CODE = "Code"
"""Category of the parts of workflow functions, whose inputs are text of the program."""

Evaluate = Callable[[Scope], Any]
SetOutput = Callable[["LiveInstance", Scope, Any], None]


class NodeBuilder:
    def __init__(self, compiler: Compiler, node: Node, done: Done, path: str) -> None:
        self.compiler = compiler
        self.node = node
        self.definition: ActivityNode = node.definition
        self.done = done
        """Call it when the activity completes: `done(live, owner, scope, outcome)`."""
        self.path = path
        self.log = InputLog(node)

    # -- inputs --------------------------------------------------------------------------------------------------------

    def has_input(self, name: str) -> bool:
        return name in self.definition.inputs

    def literal(self, name: str, default: Any = None) -> Any:
        """Value of an input that must be known when the plan is built."""
        value = self.definition.inputs.get(name, default)
        if isinstance(value, Expression):
            if value.language == "literal":
                return value.source
            self.problem(
                f"inputs/{name}", "not-a-literal", f"'{name}' must be a plain value.", "Write the value itself."
            )
            return default
        return value

    def expression(self, name: str, default: Any = None) -> CompiledExpression:
        """An input as a compiled expression. Literals and missing inputs are constant."""
        descriptor = self.node.descriptor.input(name)
        if default is None and descriptor is not None:
            default = descriptor.default
        return self.compile(self.definition.inputs.get(name, default), name)

    def input(self, name: str, default: Any = None, *, logged: bool = True) -> Evaluate:
        """An input as a function of the scope. Its values are part of the activity's journal entry, unless the activity
        writes them itself (`logged=False`)."""
        evaluate = self.expression(name, default).evaluate
        if not logged or self.node.descriptor.category == CODE:
            return evaluate
        return self.log.watch(name, evaluate)

    def compile(self, value: Any, label: str, names: Names | None = None) -> CompiledExpression:
        """Compile a literal or an expression of this activity."""
        names = self.node.names if names is None else names
        if not isinstance(value, Expression):
            return constant(value)
        if isinstance(value.source, str):
            self.node.sources.setdefault(value.source, label)
        return self.compiler.expression(value, names, f"{self.path}/inputs/{label}")

    def script(self, language: str, source: str, label: str) -> CompiledScript | None:
        self.node.sources.setdefault(source, label)
        return self.compiler.script(language, source, self.node.names, f"{self.path}/inputs/{label}")

    # -- outputs and variables -----------------------------------------------------------------------------------------

    def output(self, name: str, *, typed: bool = True) -> SetOutput:
        """A function that stores a value in the bound target and makes it visible to expressions.

        The value is converted to the declared type of the output, unless the caller has checked it (`typed=False`).
        """
        target = self.definition.outputs.get(name)
        setter = self.setter(target, f"outputs/{name}") if target else None
        node = self.node
        refuse, scalars = values.check, values.SCALARS
        declared = self.node.descriptor.output(name) if typed else None
        check = (
            None
            if declared is None
            else type_check(self.compiler.plan, f"output '{name}' of '{node.key}'", declared.type)
        )

        def put(live: LiveInstance, scope: Scope, value: Any) -> None:
            if check is not None:
                value = check(value)
            if value.__class__ not in scalars:
                refuse(value, f"{node.key}.{name}", live.plan.types)
            if setter is not None:
                setter(scope, value)
            if live.plan.records_outputs:
                live.keep_result(node, name, value)

        return put

    def setter(self, target: str, label: str) -> Callable[[Scope, Any], None]:
        """A function that writes a variable (by id or name) or an output of the workflow."""
        found = self.node.names.target(target)
        if found is None:
            known = ", ".join(self.node.names.visible()) or "none"
            self.problem(
                label, "unknown-target", f"Unknown variable or output '{target}'.", f"Declare it; visible: {known}."
            )
            return lambda scope, value: None
        hops, index = found
        return _setter(hops, index, self.node.names.shapes[hops].checks.get(index))

    def slot(self, target: str, label: str) -> tuple[int, int, Check | None]:
        """Location of a variable (number of levels up, and its index there) and the check of values for it."""
        found = self.node.names.target(target)
        if found is None:
            self.setter(target, label)
            return 0, 0, None
        hops, index = found
        return hops, index, self.node.names.shapes[hops].checks.get(index)

    def variables(self) -> Shape | None:
        """Shape of the variables that this activity declares."""
        return self.node.shape

    def open(self) -> Callable[[Scope], Scope]:
        """A function that makes the children's scope: a new scope if the activity declares variables."""
        shape = self.node.shape
        return shape.open if shape is not None else _same

    # -- children ------------------------------------------------------------------------------------------------------

    def child(
        self, port: str, done: Done, *, variables: Mapping[str, Any] | None = None, lendable: bool = False
    ) -> Node | None:
        """The activity of a single port, or None. `variables` are visible to it in a separate scope (see `shape`)."""
        value = self.definition.ports.get(port)
        if not isinstance(value, ActivityNode):
            return None
        return self.place(value, done, f"{self.path}/{port}", shape=self.shape(port, variables), lendable=lendable)

    def children(self, port: str, done: Callable[[int], Done]) -> list[Node]:
        """The activities of a list port. `done(position)` makes the continuation of each."""
        items = self.definition.ports.get(port, ())
        return [
            self.place(item, done(position), f"{self.path}/{port}/{position}")
            for position, item in enumerate(items)
            if isinstance(item, ActivityNode)
        ]

    def entries(self, port: str) -> list[PortEntry]:
        return [item for item in self.definition.ports.get(port, ()) if isinstance(item, PortEntry)]

    def place(
        self, definition: ActivityNode, done: Done, path: str, *, shape: Shape | None = None, lendable: bool = False
    ) -> Node:
        """Compile a child. A `lendable` child may also run under another activation (cleanup, Compensate)."""
        names = self.node.inner if shape is None else Names((shape, *self.node.inner.shapes))
        return self.compiler.place(definition, self.node, names, _lent(self.node, done) if lendable else done, path)

    def shape(self, port: str, variables: Mapping[str, Any] | None) -> Shape | None:
        """Shape of the scope that this activity opens for a child: `variables` with their defaults."""
        if not variables:
            return None
        return self.compiler.shape(f"{self.node.key}#{port}", variables)

    def is_terminal(self, definition: Any) -> bool:
        """Whether its completion ends the enclosing container (Break, Complete, End, Finish)."""
        activity = self.compiler.activity_type(definition.type, definition.version)
        return activity is not None and activity.descriptor.terminal

    # -- whole activities ----------------------------------------------------------------------------------------------

    def objects(self, activity: Any) -> Op:
        """Operation of an activity written as a class with `execute(context)`."""
        from holdfast.execution.invoke import object_operation

        return object_operation(self, activity)

    def function(self, activity: Any) -> Op:
        """Operation of an activity written as a function."""
        from holdfast.execution.functions import function_operation

        return function_operation(self, activity)

    def leaf(self, act: Callable[[LiveInstance, Scope], Any]) -> Op:
        """Operation of an activity that completes at once. The return value of `act` is journaled."""
        index = self.node.index

        def step(live: LiveInstance, scope: Scope) -> None:
            n = live.sequence = live.sequence + 1
            data = act(live, scope)
            live.journal.append((COMPLETED, index, n, live.now(), data))

        return self.at_once(step)

    def at_once(self, step: Step) -> Op:
        """Like `leaf`, for a step that counts and journals its execution itself."""
        self.node.step = step = self.log.around_step(step)
        done = self.done

        def op(live: LiveInstance, owner: Activation, scope: Scope) -> None:
            step(live, scope)
            done(live, owner, scope, None)

        return op

    def problem(self, where: str, code: str, message: str, remedy: str) -> None:
        self.compiler.problems.append(Problem(path=f"{self.path}/{where}", code=code, message=message, remedy=remedy))


def constant(value: Any) -> CompiledExpression:
    """A literal. Containers are copied on each read, so that no reader can change the definition."""
    if value.__class__ in values.SCALARS:
        return CompiledExpression(evaluate=lambda scope: value, constant=True)
    return CompiledExpression(evaluate=lambda scope: values.copy(value), constant=True)


def _same(scope: Scope) -> Scope:
    return scope


def _setter(hops: int, index: int, check: Check | None) -> Callable[[Scope, Any], None]:
    if check is not None:
        put_checked = _setter(hops, index, None)
        return lambda scope, value: put_checked(scope, check(value))
    if hops == 0:
        return lambda scope, value: scope.__setitem__(index, value)
    if hops == 1:
        return lambda scope, value: scope[0].__setitem__(index, value)

    def put(scope: Scope, value: Any) -> None:
        for _ in range(hops):
            scope = scope[0]
        scope[index] = value

    return put


def _lent(node: Node, done: Done) -> Done:
    def ended(live: LiveInstance, owner: Activation, scope: Scope, outcome: Outcome) -> None:
        if owner.node is node and owner is not live.cleanup:
            done(live, owner, scope, outcome)
            return
        borrowed = owner.node.hooks.borrowed
        if borrowed is not None:
            borrowed(live, owner, scope, outcome)

    return ended
