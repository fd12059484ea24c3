"""Concurrent calls: wait for all of them (`gather`, `parallel`) or for the first (`first`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from holdfast.activities.code.flow import block_of, frame_of, slot_of
from holdfast.authoring.activity import Activity
from holdfast.authoring.fields import children, field, output, port
from holdfast.errors import ActivityFault
from holdfast.execution.activation import Activation
from holdfast.execution.builder import NodeBuilder
from holdfast.execution.cancellation import cancel, cancel_kids, withdraw
from holdfast.execution.composite import UNSET
from holdfast.execution.frames import FrameShape
from holdfast.execution.journal import COMPLETED
from holdfast.execution.live import Compensation, LiveInstance
from holdfast.execution.plan import Node, Op, Outcome
from holdfast.model.definition import ActivityNode
from holdfast.model.scope import Names, Scope
from holdfast.model.types import convert

NUMBER, VALUE = "~number", "__value"
"""Names in a branch's scope: its position among the results, and the value its call returned."""


class Branch(Activity, pure=True, container=True, category="Code", icon="git-branch", browsable=False):
    """One of several concurrent calls. Its variables are the arguments of the call and `__value`, the call's result."""

    of: str | None = None
    """Public name of the class to convert the result to, if the call returns plain data."""
    body: Activity | None = port()

    @classmethod
    def compile(cls, builder: NodeBuilder) -> Op:
        node = builder.node
        shape = FrameShape(node.key, function="", file=frame_of(builder).file, uses={})
        for name in (NUMBER, *(item.name for item in builder.definition.variables)):
            shape.declare(name)
        node.shape = builder.compiler.plan.shapes[node.key] = shape
        node.inner = Names((shape, *node.names.shapes))
        of, value = builder.literal("of"), shape.names.get(VALUE)

        def body_done(live: LiveInstance, owner: Activation, scope: Scope, outcome: Outcome) -> None:
            if of is not None and value is not None:
                owner.scope[value] = convert(owner.scope[value], str(of), live.plan.types)
            live.complete(owner)

        body = builder.child("body", body_done)
        assert body is not None

        def op(live: LiveInstance, owner: Activation, scope: Scope) -> None:
            """The scope comes from `branch_scope` and already holds the arguments."""
            live.queue.append((body, live.activate(node, owner, scope), scope))

        return op


class Gather(Activity, pure=True, container=True, category="Code", icon="columns", browsable=False):
    """Runs calls concurrently, at most `limit` at a time, and returns their results in the order of the calls.

    The first failure cancels the other calls and is raised.
    """

    calls: Any = field(evaluated=False)
    """`[(index of the branch, {argument: value}), …]`"""
    limit: Any = field(default=None, evaluated=False)
    """Maximum number of calls that run at the same time. Default: no limit."""
    results: str
    """Temporary that collects `[calls, results]`."""
    branches: list[Activity] = children()
    result: Any = output()
    """Results of the calls, in their order."""

    @classmethod
    def compile(cls, builder: NodeBuilder) -> Op:
        return _Branches(builder).op


class First(Activity, pure=True, container=True, category="Code", icon="flag", browsable=False):
    """Runs calls concurrently. The first call that ends gives the result; the others are canceled."""

    calls: Any = field(evaluated=False)
    """`[(index of the branch, {argument: value}), …]`"""
    results: str
    """Temporary that collects `[calls, results]`."""
    branches: list[Activity] = children()
    result: Any = output()
    """Result of the first call that ended."""

    @classmethod
    def compile(cls, builder: NodeBuilder) -> Op:
        return _Branches(builder, first=True).op


class Undo(Activity, pure=True, container=True, category="Code", icon="undo", browsable=False):
    """Registers a call as a compensation. Compensate runs it, and so does canceling the instance."""

    calls: Any = field(evaluated=False)
    """One call: `[(0, {argument: value})]`"""
    results: str = ""
    """Not used."""
    branches: list[Activity] = children()

    @classmethod
    def compile(cls, builder: NodeBuilder) -> Op:
        calls, key = block_of(builder, "calls"), builder.definition.id

        def never(live: LiveInstance, owner: Activation, scope: Scope, outcome: Outcome) -> None:
            """Runs only on behalf of other nodes, which handle its completion."""

        (item,) = builder.definition.ports["branches"]
        node = builder.place(item, never, f"{builder.path}/branches/0", lendable=True)
        index, done = builder.node.index, builder.done

        def op(live: LiveInstance, owner: Activation, scope: Scope) -> None:
            n = live.sequence = live.sequence + 1
            ((_, arguments),) = calls(live, owner, scope)
            made = Compensation(n, key, node, branch_scope(node, scope, 0, arguments))
            live.compensations = (*live.compensations, made)
            live.journal.append((COMPLETED, index, n, live.now(), None))
            done(live, owner, scope, None)

        return op


def branch_scope(node: Node, scope: Scope, number: int, arguments: Mapping[str, Any]) -> Scope:
    """Scope of a Branch with the arguments of its call."""
    shape = node.shape
    assert shape is not None
    inner = shape.open(scope)
    inner[shape.names[NUMBER]] = number
    for name, value in arguments.items():
        inner[shape.names[name]] = value
    return inner


class _Branches:
    """data = [next call to start, number of ended calls, concurrency limit, calls that a failure canceled]"""

    def __init__(self, builder: NodeBuilder, *, first: bool = False) -> None:
        self.node = builder.node
        self.first = first
        self.calls = block_of(builder, "calls")
        self.limit = block_of(builder, "limit") if builder.has_input("limit") else None
        self.slot = slot_of(builder, "results")
        self.put = builder.output("result")
        self.node.hooks.fault = self.fault
        self.branches = [
            self._branch(builder, number, item)
            for number, item in enumerate(builder.definition.ports.get("branches", ()))
        ]

    def _branch(self, builder: NodeBuilder, number: int, item: ActivityNode) -> Node:
        """Place the call in its own frame, so that objects stay shared."""
        return builder.place(item, self.branch_done, f"{builder.path}/branches/{number}")

    def op(self, live: LiveInstance, owner: Activation, scope: Scope) -> None:
        calls = list(self.calls(live, owner, scope))
        limit = self.limit(live, owner, scope) if self.limit is not None else None
        if limit is not None and limit < 1:
            raise ActivityFault(f"The limit must be at least 1, not {limit}.")
        activation = live.activate(self.node, owner, scope)
        scope[self.slot] = [calls, [None] * len(calls)]
        activation.data = [0, 0, len(calls) if limit is None else limit]
        self.start(live, activation)
        if not calls:
            self.finish(live, activation, [])

    def start(self, live: LiveInstance, owner: Activation) -> None:
        """Start calls up to the limit. Calls canceled by a failure restart first if the failed call is retried."""
        data, many = owner.data, len(owner.scope[self.slot][0])
        while data[0] - len(again := self.canceled(owner)) - data[1] < data[2]:
            if again:
                self.begin(live, owner, again.pop(0))
            elif data[0] < many:
                data[0] += 1
                self.begin(live, owner, data[0] - 1)
            else:
                return

    @staticmethod
    def canceled(owner: Activation) -> list[int]:
        found: list[int] = owner.data[3] if len(owner.data) > 3 else []
        return found

    def begin(self, live: LiveInstance, owner: Activation, number: int) -> None:
        which, arguments = owner.scope[self.slot][0][number]
        node = self.branches[which]
        live.queue.append((node, owner, branch_scope(node, owner.scope, number, arguments)))

    def branch_done(self, live: LiveInstance, owner: Activation, scope: Scope, outcome: Outcome) -> None:
        if owner.status:
            return
        names = scope[1].names
        value = scope[names[VALUE]]
        value = None if value is UNSET else value
        if self.first:
            cancel_kids(live, owner)
            withdraw(live, [owner])
            self.finish(live, owner, value)
            return
        calls, results = owner.scope[self.slot]
        results[scope[names[NUMBER]]] = value
        owner.data[1] += 1
        if owner.data[1] == len(calls):
            self.finish(live, owner, results)
        else:
            self.start(live, owner)

    def finish(self, live: LiveInstance, owner: Activation, value: Any) -> None:
        owner.scope[self.slot] = UNSET
        self.put(live, owner.outer, value)
        live.complete(owner)

    def fault(self, live: LiveInstance, activation: Activation, failed: Activation, error: BaseException) -> bool:
        """Cancel the other calls and pass the failure on.

        The canceled calls restart if the failed call succeeds on retry.
        """
        branch: Activation = failed
        while branch.owner is not None and branch.owner is not activation:
            branch = branch.owner
        others = [kid for kid in (activation.kids or {}).values() if kid is not branch]
        scopes = [kid.outer for kid in others] + [scope for _, owner, scope in live.queue if owner is activation]
        for kid in others:
            cancel(live, kid, notify=False)
        withdraw(live, [activation])
        if not self.first and scopes:
            numbers = [scope[scope[1].names[NUMBER]] for scope in scopes]
            activation.data = [*activation.data[:3], sorted({*self.canceled(activation), *numbers})]
        return False
