"""Concurrent calls: wait for all of them (`gather`, `parallel`) or for the first (`first`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from holdfast.activities.code.flow import block_of, frame_of, slot_of
from holdfast.authoring.activity import Activity
from holdfast.authoring.fields import children, field, output, port
from holdfast.errors import ActivityFault
from holdfast.execution import faults
from holdfast.execution.activation import Activation
from holdfast.execution.builder import NodeBuilder
from holdfast.execution.cancellation import cancel_kids, withdraw
from holdfast.execution.composite import UNSET
from holdfast.execution.frames import FrameShape
from holdfast.execution.heap.tracked_scope import TrackedScope, mention, mention_item
from holdfast.execution.journal import COMPLETED
from holdfast.execution.live import Compensation, LiveInstance
from holdfast.execution.plan import Node, Op, Outcome
from holdfast.model.definition import ActivityNode
from holdfast.model.scope import Names, Scope
from holdfast.model.types import convert
from holdfast.model.values import SCALARS

QUEUED_MAX = 64
"""Calls of one activation in the queue. Each call that begins queues the next one, since every commit writes the queue."""
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
                mention(owner.scope, value)
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

    The first failure is raised. A handler that catches it cancels the other calls. If no handler catches it, the calls
    that run end, and their results are kept for the retry.
    """

    calls: Any = field(evaluated=False)
    """`[(index of the branch, {argument: value}), …]`"""
    limit: Any = field(default=None, evaluated=False)
    """Maximum number of calls that run at the same time. Default: no limit."""
    results: str
    """Temporary that collects `[calls, results by the number of the call]`."""
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


def in_order(results: dict[int, Any] | list[Any], count: int) -> list[Any]:
    """The results in the order of the calls. Earlier versions stored a list."""
    return results if isinstance(results, list) else [results[number] for number in range(count)]


class _Branches:
    """data = [next call to start, number of ended calls, concurrency limit, calls held back, failed calls, late calls]

    The last three are missing until a call fails. Late calls are those of `first` that ended after a failure.
    """

    def __init__(self, builder: NodeBuilder, *, first: bool = False) -> None:
        self.node = builder.node
        self.first = first
        self.calls = block_of(builder, "calls")
        self.limit = block_of(builder, "limit") if builder.has_input("limit") else None
        self.slot = slot_of(builder, "results")
        self.put = builder.output("result")
        self.node.hooks.fault = self.fault
        self.node.hooks.retried = self.retried
        self.node.hooks.asleep = self.asleep
        self.node.hooks.woken = self.woken
        self.branches = [
            self._branch(builder, number, item)
            for number, item in enumerate(builder.definition.ports.get("branches", ()))
        ]

    def _branch(self, builder: NodeBuilder, number: int, item: ActivityNode) -> Node:
        """Place the call in its own frame, so that objects stay shared."""
        node = builder.place(item, self.branch_done, f"{builder.path}/branches/{number}")
        begin = node.op

        def op(live: LiveInstance, owner: Activation, scope: Scope) -> None:
            begin(live, owner, scope)
            self.start(live, owner)

        node.op = op
        return node

    def op(self, live: LiveInstance, owner: Activation, scope: Scope) -> None:
        # A list that only this node uses. Its items are lists, since plain data is stored faster than tuples.
        # It shares no dict with the list that `parallel` collected: a link to a shared object cannot stand in a tuple.
        calls = [[which, dict(arguments)] for which, arguments in self.calls(live, owner, scope)]
        limit = self.limit(live, owner, scope) if self.limit is not None else None
        if limit is not None and limit < 1:
            raise ActivityFault(f"The limit must be at least 1, not {limit}.")
        activation = live.activate(self.node, owner, scope)
        scope[self.slot] = [calls, {}]
        activation.data = [0, 0, len(calls) if limit is None else limit]
        self.start(live, activation)
        if not calls:
            self.finish(live, activation, [])

    def start(self, live: LiveInstance, owner: Activation) -> None:
        """Start calls up to the limit, first those that a failure held back. While a failed call waits for its retry, no
        call starts.
        """
        data, many = owner.data, len(owner.scope[self.slot][0])
        while not self.failed(owner) and data[0] - len(held := self.held_back(owner)) - data[1] < data[2]:
            if data[0] - len(held) - data[1] - len(owner.kids or ()) >= QUEUED_MAX:
                return
            if held:
                self.begin(live, owner, held.pop(0))
            elif data[0] < many:
                data[0] += 1
                self.begin(live, owner, data[0] - 1)
            else:
                return

    @staticmethod
    def held_back(owner: Activation) -> list[int]:
        found: list[int] = owner.data[3] if len(owner.data) > 3 else []
        return found

    @staticmethod
    def failed(owner: Activation) -> list[int]:
        found: list[int] = owner.data[4] if len(owner.data) > 4 else []
        return found

    def begin(self, live: LiveInstance, owner: Activation, number: int) -> None:
        calls = owner.scope[self.slot][0]
        mention_item(owner.scope, calls, number)
        which, arguments = calls[number]
        node = self.branches[which]
        live.queue.append((node, owner, branch_scope(node, owner.scope, number, arguments)))

    def branch_done(self, live: LiveInstance, owner: Activation, scope: Scope, outcome: Outcome) -> None:
        if owner.status:
            return
        names = scope[1].names
        mention(scope, names[VALUE])
        value, number = scope[names[VALUE]], scope[names[NUMBER]]
        value = None if value is UNSET else value
        calls, results = owner.scope[self.slot]
        mention_item(owner.scope, results, number)
        if number in self.failed(owner):
            self.failed(owner).remove(number)
        if self.first:
            results[number] = value
            late = owner.data[5] if len(owner.data) > 5 else []
            if self.failed(owner):  # The failure was first. The retry takes this result.
                late.append(number)
            else:
                self.win(live, owner, results[late[0]] if late else value)
            return
        results[number] = value
        owner.data[1] += 1
        if owner.data[1] == len(calls):
            self.finish(live, owner, in_order(results, len(calls)))
        else:
            self.start(live, owner)

    # -- sleeping branches ---------------------------------------------------------------------------------------------

    def asleep(self, owner: Activation, kid: Activation) -> int | None:
        """The number of a call that has not ended: its frame holds nothing but the arguments of the call."""
        scope = kid.outer
        shape = scope[1]
        number = scope[shape.names[NUMBER]]
        which, arguments = owner.scope[self.slot][0][number]
        if self.branches[which].shape is not shape:
            return None
        expected = {shape.names[name]: value for name, value in arguments.items()}
        for index in shape.names.values():
            value, argument = scope[index], expected.get(index, UNSET)
            if value is argument or index == shape.names[NUMBER]:
                continue
            if value.__class__ is not argument.__class__ or value.__class__ not in SCALARS or value != argument:
                return None
        return int(number)

    def woken(self, owner: Activation, number: Any) -> Scope:
        calls = owner.scope[self.slot][0]
        which, arguments = calls[number]
        if not SCALARS.issuperset(map(type, arguments.values())):
            mention_item(owner.scope, calls, number)
        scope = branch_scope(self.branches[which], owner.scope, number, arguments)
        outer = owner.scope
        return TrackedScope(scope, outer.book, {}) if isinstance(outer, TrackedScope) else scope

    # -- end -----------------------------------------------------------------------------------------------------------

    def win(self, live: LiveInstance, owner: Activation, value: Any) -> None:
        """End `first` with this value; the other calls have lost."""
        cancel_kids(live, owner)
        withdraw(live, [owner])
        self.finish(live, owner, value)

    def finish(self, live: LiveInstance, owner: Activation, value: Any) -> None:
        mention(owner.scope, self.slot)
        owner.scope[self.slot] = UNSET
        self.put(live, owner.outer, value)
        live.complete(owner)

    def fault(self, live: LiveInstance, activation: Activation, failed: Activation, error: BaseException) -> bool:
        """Pass the first failure on. If a handler takes it, the handler cancels this activation with all its calls.

        Otherwise an operator decides, and the calls that run are not interrupted: what an effect has done outside is
        known only from its result (rule H3). Calls that have not begun are held back until the retry. A
        further failure does not reach the handlers; it is an incident.
        """
        others, number = self.failed(activation), self.number_of(activation, failed)
        waiting = [scope[scope[1].names[NUMBER]] for _, owner, scope in live.queue if owner is activation]
        withdraw(live, [activation])
        held = sorted({*self.held_back(activation), *waiting})
        late = activation.data[5] if len(activation.data) > 5 else []
        activation.data = [*activation.data[:3], held, [*others, *({number} - {*others})], late]
        if not {*others} - {number}:
            return False
        faults.add_incident(live, failed, error)
        return True

    def retried(self, live: LiveInstance, activation: Activation, again: Activation) -> None:
        number = self.number_of(activation, again)
        if number not in self.failed(activation):
            return
        self.failed(activation).remove(number)
        late = activation.data[5]
        if late and not self.failed(activation):
            self.win(live, activation, activation.scope[self.slot][1][late[0]])
        else:
            self.start(live, activation)

    @staticmethod
    def number_of(activation: Activation, below: Activation) -> int:
        """Number of the call that this descendant belongs to."""
        branch = below
        while branch.owner is not None and branch.owner is not activation:
            branch = branch.owner
        number: int = branch.outer[branch.outer[1].names[NUMBER]]
        return number
