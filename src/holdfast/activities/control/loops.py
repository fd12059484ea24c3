"""Sequential loops: For, ForEach, While, DoWhile. A loop ends Break and Continue signals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from holdfast.activities.control.conditions import decide
from holdfast.authoring.activity import Activity
from holdfast.authoring.fields import field, output, port
from holdfast.errors import ActivityFault
from holdfast.execution import faults
from holdfast.execution.activation import BREAKING, Activation
from holdfast.execution.builder import NodeBuilder
from holdfast.execution.journal import DECIDED
from holdfast.execution.lazy_values import LazyValue, PagedItems, loop_items
from holdfast.execution.live import LiveInstance
from holdfast.execution.plan import Op, Outcome
from holdfast.model import values
from holdfast.model.scope import Scope
from holdfast.model.types import convert
from holdfast.model.values import TypeRegistry

VALUE, INDEX = "CurrentValue", "CurrentIndex"
"""Variables that loops set for their body."""


def end_stop(live: LiveInstance, activation: Activation, flag: int) -> bool:
    activation.flags |= flag
    return True


def is_broken(activation: Activation) -> bool:
    """Whether Break was called. Resets the flags, because a Continue has served its purpose."""
    if not activation.flags:
        return False
    broken = bool(activation.flags & BREAKING)
    activation.flags = 0
    return broken


def items_of(value: Any) -> list[Any]:
    """Items to loop over: any collection, text as one item, or JSON text of a list."""
    if value.__class__ is list:
        return list(value)
    if value is None:
        raise ActivityFault("The collection is None. Provide a list; an empty list runs nothing.")
    if isinstance(value, tuple | set | frozenset | range | dict):
        return list(value)
    found = convert(value, "list")
    return list(found) if isinstance(found, list | tuple) else [found]


class ForEach(Activity, pure=True, container=True, category="Looping", icon="repeat"):
    """Runs its body once for each item, in order. The body can use `CurrentValue` and `CurrentIndex`."""

    items: list[Any] = field(default=(), evaluated=False)
    """Items to loop over."""
    body: Activity | None = port(variables=(VALUE, INDEX), named_by="item")
    """Runs once per item."""
    item: str = VALUE
    """Name of the variable that holds the item."""
    current_value: Any = output()
    """Current item."""

    @classmethod
    def compile(cls, builder: NodeBuilder) -> Op:
        node = builder.node
        evaluate = builder.input("items", default=())
        name = builder.literal("item", VALUE)
        put = builder.output("current_value") if "current_value" in builder.definition.outputs else None
        shape = builder.shape("body", {name: None, INDEX: 0})
        assert shape is not None

        def advance(live: LiveInstance, owner: Activation, scope: Scope, outcome: Outcome) -> None:
            position, items = owner.data
            if position == len(items) or (owner.flags and is_broken(owner)):
                live.complete(owner)
                return
            owner.data[0] = position + 1
            value = items[position]
            if put is not None:
                put(live, owner.outer, value)
            live.queue.append((body, owner, [owner.scope, shape, value, position]))

        placed = builder.definition.ports.get("body")
        if placed is None:
            return builder.leaf(lambda live, scope: {"items": len(items_of(evaluate(scope)))})
        body = builder.place(placed, advance, f"{builder.path}/body", shape=shape)
        node.hooks.stop, node.hooks.dump, node.hooks.load = end_stop, _dump_items, _load_items

        def op(live: LiveInstance, owner: Activation, scope: Scope) -> None:
            items = items_of(evaluate(scope))
            activation = live.activate(node, owner, scope)
            activation.data = [0, items]
            advance(live, activation, scope, None)

        return op


def _dump_items(data: list[Any], types: TypeRegistry) -> list[Any]:
    position, items = data
    return [position, items.lazy if isinstance(items, PagedItems) else values.encode(items, types)]


def _load_items(data: list[Any], _activation: Activation, types: TypeRegistry) -> list[Any]:
    """A list that is stored separately is read page by page as the loop proceeds."""
    position, items = data
    return [position, loop_items(items, types) if isinstance(items, LazyValue) else values.decode(items, types)]


class For(Activity, pure=True, container=True, category="Looping", icon="repeat"):
    """Counts from `start` to `end`. The body can use `CurrentValue`."""

    start: int = 0
    """First value."""
    end: int = 0
    """Last value."""
    step: int = 1
    """Increment. A negative step counts down."""
    inclusive: bool = True
    """Include `end` itself."""
    body: Activity | None = port(variables=(VALUE,))
    """Runs once per value."""
    current_value: int = output()
    """Current value."""

    @classmethod
    def compile(cls, builder: NodeBuilder) -> Op:
        node = builder.node
        start, end = builder.input("start", 0), builder.input("end", 0)
        step, inclusive = builder.input("step", 1), builder.input("inclusive", default=True)
        put = builder.output("current_value")
        shape = builder.shape("body", {VALUE: None})
        assert shape is not None

        def advance(live: LiveInstance, owner: Activation, scope: Scope, outcome: Outcome) -> None:
            current, stride, limit, counted = owner.data
            ended = current > limit or (current == limit and not counted)
            if stride < 0:
                ended = current < limit or (current == limit and not counted)
            if (owner.flags and is_broken(owner)) or ended:
                live.complete(owner)
                return
            owner.data[0] = current + stride
            put(live, owner.outer, current)
            live.queue.append((body, owner, [owner.scope, shape, current]))

        placed = builder.definition.ports.get("body")
        if placed is None:
            return builder.leaf(lambda live, scope: None)
        body = builder.place(placed, advance, f"{builder.path}/body", shape=shape)
        node.hooks.stop = end_stop

        def op(live: LiveInstance, owner: Activation, scope: Scope) -> None:
            stride = convert(step(scope), "integer")
            if stride == 0:
                raise ActivityFault("The step of a For must not be 0: it would never end.")
            data = [convert(start(scope), "integer"), stride, convert(end(scope), "integer"), bool(inclusive(scope))]
            activation = live.activate(node, owner, scope)
            activation.data = data
            advance(live, activation, scope, None)

        return op


def _conditional(builder: NodeBuilder, *, test_first: bool) -> Op:
    """While and DoWhile: the condition is evaluated before or after each pass."""
    node = builder.node
    decided = decide(builder.expression("condition", default=False))

    def passes(live: LiveInstance, owner: Activation) -> None:
        answer, saw = decided(owner.outer)
        live.journal.append((DECIDED, node.index, owner.id, live.now(), {"answer": answer, "saw": saw}))
        if answer:
            live.queue.append((body, owner, owner.scope))
        else:
            live.complete(owner)

    def advance(live: LiveInstance, owner: Activation, scope: Scope, outcome: Outcome) -> None:
        if owner.flags and is_broken(owner):
            live.complete(owner)
        else:
            run_guarded(live, owner, passes)

    placed = builder.definition.ports.get("body")
    if placed is None:
        return builder.leaf(lambda live, scope: None)
    body = builder.place(placed, advance, f"{builder.path}/body")
    node.hooks.stop = end_stop

    def op(live: LiveInstance, owner: Activation, scope: Scope) -> None:
        activation = live.activate(node, owner, scope)
        if test_first:
            passes(live, activation)
        else:
            live.queue.append((body, activation, scope))

    return op


def run_guarded(live: LiveInstance, owner: Activation, work: Callable[[LiveInstance, Activation], None]) -> None:
    """Run a continuation that may fail. The fault belongs to the owner, not to the child that has just completed."""
    try:
        work(live, owner)
    except Exception as error:  # noqa: BLE001 - user code: any exception is a fault of the activity
        faults.fault(live, owner, faults.with_input_name(owner.node, error))


class While(Activity, pure=True, container=True, category="Looping", icon="repeat"):
    """Runs its body as long as the condition is true. The condition is evaluated before each pass."""

    condition: bool = field(default=False, evaluated=False)
    """Condition to evaluate before each pass."""
    body: Activity | None = port()
    """Runs once per pass."""

    @classmethod
    def compile(cls, builder: NodeBuilder) -> Op:
        return _conditional(builder, test_first=True)


class DoWhile(Activity, pure=True, container=True, category="Looping", icon="repeat"):
    """Runs its body once, and repeats it as long as the condition is true."""

    condition: bool = field(default=False, evaluated=False)
    """Condition to evaluate after each pass."""
    body: Activity | None = port()
    """Runs once per pass."""

    @classmethod
    def compile(cls, builder: NodeBuilder) -> Op:
        return _conditional(builder, test_first=False)
