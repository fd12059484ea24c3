"""Activities that set variables, outputs, and the instance's name and correlation id."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from holdfast.authoring.activity import Activity
from holdfast.authoring.fields import field
from holdfast.execution.builder import NodeBuilder
from holdfast.execution.journal import COMPLETED, TINY, captured
from holdfast.execution.live import LiveInstance
from holdfast.execution.plan import Op
from holdfast.execution.typed_values import Check
from holdfast.model.scope import Scope, find, write
from holdfast.model.storable_text import storable
from holdfast.model.values import check


class SetVariable(Activity, pure=True, category="Primitives", icon="equal"):
    """Sets a variable."""

    variable: str
    """Name of the variable."""
    value: Any = field(default=None, evaluated=False)
    """New value of the variable."""

    @classmethod
    def compile(cls, builder: NodeBuilder) -> Op:
        name = str(builder.literal("variable"))
        evaluate = builder.input("value", logged=False)
        hops, slot, typed = builder.slot(name, "inputs/variable")
        return _assign(builder, name, _typed(evaluate, typed), hops, slot)


def _typed(evaluate: Callable[[Scope], Any], check_type: Check | None) -> Callable[[Scope], Any]:
    """The value as the type of the variable demands it; variables without a type cost nothing."""
    return evaluate if check_type is None else lambda scope: check_type(evaluate(scope))


def _assign(builder: NodeBuilder, name: str, evaluate: Callable[[Scope], Any], hops: int, slot: int) -> Op:
    """Step of an assignment, unrolled for scope distances 0 and 1.

    They cover nearly all assignments, and SetVariable is the most frequent activity.
    """
    index = builder.node.index

    def step_here(live: LiveInstance, scope: Scope) -> None:
        n = live.sequence = live.sequence + 1
        logged = value = evaluate(scope)
        if value.__class__ not in TINY:
            check(value, name)
            logged = captured(value)
        scope[slot] = value
        live.journal.append((COMPLETED, index, n, live.now(), logged))

    def step_above(live: LiveInstance, scope: Scope) -> None:
        n = live.sequence = live.sequence + 1
        logged = value = evaluate(scope)
        if value.__class__ not in TINY:
            check(value, name)
            logged = captured(value)
        scope[0][slot] = value
        live.journal.append((COMPLETED, index, n, live.now(), logged))

    def step_far(live: LiveInstance, scope: Scope) -> None:
        n = live.sequence = live.sequence + 1
        value = evaluate(scope)
        check(value, name)
        level = scope
        for _ in range(hops):
            level = level[0]
        level[slot] = value
        live.journal.append((COMPLETED, index, n, live.now(), captured(value)))

    return builder.at_once(step_here if hops == 0 else step_above if hops == 1 else step_far)


class SetOutput(Activity, pure=True, category="Composition", icon="log-out"):
    """Sets an output of the workflow."""

    name: str
    """Name of the output."""
    value: Any = field(default=None, evaluated=False)
    """Value of the output."""

    @classmethod
    def compile(cls, builder: NodeBuilder) -> Op:
        name_of, value_of = builder.input("name"), builder.input("value")

        def put(live: LiveInstance, scope: Scope) -> None:
            name, value = str(name_of(scope)), value_of(scope)
            check(value, name)
            level: Any = scope
            while isinstance(level, list):
                slot = level[1].outputs.get(name)
                if slot is not None:
                    write(level, slot, value)
                    break
                level = level[0]
            else:
                live.spare_outputs = {**live.spare_outputs, name: value}
            found = find(scope, name)
            if found is not None:
                write(*found, value)

        return builder.leaf(put)


class Correlate(Activity, pure=True, category="Primitives", icon="link"):
    """Sets the correlation id of the instance."""

    correlation_id: str
    """New correlation id. None removes it."""

    @classmethod
    def compile(cls, builder: NodeBuilder) -> Op:
        correlation_of = builder.input("correlation_id")

        def correlate(live: LiveInstance, scope: Scope) -> Any:
            value = correlation_of(scope)
            live.correlation_id = None if value is None else storable(str(value), "correlation id")
            return {"correlation_id": live.correlation_id}

        return builder.leaf(correlate)


class SetName(Activity, pure=True, category="Primitives", icon="tag"):
    """Sets the display name of the instance."""

    name: str = ""
    """New name."""

    @classmethod
    def compile(cls, builder: NodeBuilder) -> Op:
        name_of = builder.input("name", "")

        def rename(live: LiveInstance, scope: Scope) -> Any:
            live.name = storable(str(name_of(scope)), "name")
            return {"name": live.name}

        return builder.leaf(rename)


ACTIVITIES = (SetVariable, SetOutput, Correlate, SetName)
