"""Concurrent activities: Parallel, Fork, ParallelForEach. Their effects run at the same time."""

from __future__ import annotations

from typing import Any

from holdfast.activities.control.loops import INDEX, VALUE, items_of
from holdfast.activities.control.sequence import note_stop
from holdfast.authoring.activity import Activity
from holdfast.authoring.fields import children, field, port
from holdfast.errors import ActivityFault
from holdfast.execution.activation import CONTINUING, Activation
from holdfast.execution.builder import NodeBuilder
from holdfast.execution.cancellation import leave_queued
from holdfast.execution.live import LiveInstance
from holdfast.execution.plan import Done, Op, Outcome
from holdfast.model.scope import Scope
from holdfast.model.types import convert


class Parallel(Activity, pure=True, container=True, category="Control flow", icon="columns"):
    """Runs all its activities concurrently and completes when all of them have completed."""

    activities: list[Activity] = children()
    """Activities to run concurrently."""

    def __init__(self, *activities: Activity, **given: Any) -> None:
        super().__init__(**({"activities": activities} | given))

    @classmethod
    def compile(cls, builder: NodeBuilder) -> Op:
        node, open_scope = builder.node, builder.open()

        def child_done(live: LiveInstance, owner: Activation, scope: Scope, outcome: Outcome) -> None:
            owner.data -= 1
            if owner.data == 0:
                live.complete(owner)

        nodes = builder.children("activities", lambda position: child_done)
        if not nodes:
            return builder.leaf(lambda live, scope: None)

        def op(live: LiveInstance, owner: Activation, scope: Scope) -> None:
            inner = open_scope(scope)
            activation = live.activate(node, owner, scope, inner)
            activation.data = len(nodes)
            live.queue.extend((child, activation, inner) for child in nodes)

        return op


class Fork(Activity, pure=True, container=True, category="Control flow", icon="git-fork"):
    """Runs all its branches concurrently. Completes with the last branch (`wait_all`) or the first (`wait_any`)."""

    branches: list[Activity] = children()
    """Activities to run concurrently."""
    join: str = "wait_all"
    """`wait_all` waits for all branches. `wait_any` waits for the first and cancels the others."""

    def __init__(self, *branches: Activity, **given: Any) -> None:
        super().__init__(**({"branches": branches} | given))

    @classmethod
    def compile(cls, builder: NodeBuilder) -> Op:
        node = builder.node
        wait_any = builder.literal("join", "wait_all") == "wait_any"

        def branch_done(position: int) -> Done:
            def done(live: LiveInstance, owner: Activation, scope: Scope, outcome: Outcome) -> None:
                if owner.status:
                    return
                owner.data.append(position)
                if wait_any or owner.flags or len(owner.data) == len(nodes):
                    live.complete(owner)
                    leave_queued(live, owner)

            return done

        nodes = builder.children("branches", branch_done)
        node.hooks.stop = note_stop
        if not nodes:
            return builder.leaf(lambda live, scope: None)

        def op(live: LiveInstance, owner: Activation, scope: Scope) -> None:
            activation = live.activate(node, owner, scope)
            activation.data = []
            live.queue.extend((branch, activation, scope) for branch in nodes)

        return op


def _end_continue(live: LiveInstance, activation: Activation, flag: int) -> bool:
    """Continue ends one body. Break passes on to an outer loop, as in Elsa."""
    return flag == CONTINUING


class ParallelForEach(Activity, pure=True, container=True, category="Looping", icon="layers"):
    """Runs its body concurrently for all items, at most `limit` at a time."""

    items: list[Any] = field(default=(), evaluated=False)
    """Items to loop over."""
    body: Activity | None = port(variables=(VALUE, INDEX), named_by="item")
    """Runs once per item. It can use `CurrentValue` and `CurrentIndex`."""
    limit: int | None = None
    """Maximum number of bodies that run at the same time. Default: no limit."""
    item: str = VALUE
    """Name of the variable that holds the item."""

    @classmethod
    def compile(cls, builder: NodeBuilder) -> Op:
        node = builder.node
        evaluate, limit_of = builder.input("items", default=()), builder.input("limit")
        shape = builder.shape("body", {builder.literal("item", VALUE): None, INDEX: 0})
        assert shape is not None

        def begin(live: LiveInstance, owner: Activation) -> None:
            data = owner.data
            position, items = data[0], data[1]
            data[0] = position + 1
            data[2] += 1
            live.queue.append((body, owner, [owner.scope, shape, items[position], position]))

        def body_done(live: LiveInstance, owner: Activation, scope: Scope, outcome: Outcome) -> None:
            if owner.status:
                return
            owner.data[2] -= 1
            if owner.data[0] < len(owner.data[1]):
                begin(live, owner)
            elif owner.data[2] == 0:
                live.complete(owner)

        placed = builder.definition.ports.get("body")
        if placed is None:
            return builder.leaf(lambda live, scope: None)
        body = builder.place(placed, body_done, f"{builder.path}/body", shape=shape)
        node.hooks.stop = _end_continue

        def op(live: LiveInstance, owner: Activation, scope: Scope) -> None:
            value = evaluate(scope)
            items = [] if value is None else items_of(value)
            limit = limit_of(scope)
            most = len(items) if limit is None else convert(limit, "integer")
            if most < 1 and items:
                raise ActivityFault(f"The limit of a ParallelForEach must be at least 1, not {most}.")
            activation = live.activate(node, owner, scope)
            activation.data = [0, items, 0]
            for _ in range(min(most, len(items))):
                begin(live, activation)
            if not items:
                live.complete(activation)

        return op
