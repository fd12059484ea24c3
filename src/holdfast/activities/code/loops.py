"""`for` and `while` with an await inside. The iterator is a value of the frame; `else` runs unless the loop was broken."""

from __future__ import annotations

from typing import Any

from holdfast.activities.code.flow import RETURNING, block_of, slot_of
from holdfast.activities.control.loops import run_guarded
from holdfast.authoring.activity import Activity
from holdfast.authoring.fields import field, port
from holdfast.errors import ValueRefused
from holdfast.execution.activation import BREAKING, Activation
from holdfast.execution.builder import NodeBuilder
from holdfast.execution.composite import UNSET
from holdfast.execution.heap import is_storable_iterator
from holdfast.execution.heap.tracked_scope import before_next, mention_value
from holdfast.execution.live import LiveInstance
from holdfast.execution.plan import Op, Outcome
from holdfast.model.scope import Scope

BODY, ELSE = "body", "else"


class _Loop:
    """data = the part that runs: body or else"""

    def __init__(self, builder: NodeBuilder) -> None:
        self.node = builder.node
        self.node.hooks.stop = self.stop
        self.body = builder.child("body", self.pass_done)
        self.otherwise = builder.child("otherwise", self.else_done)

    def stop(self, live: LiveInstance, activation: Activation, flag: int) -> bool:
        activation.flags |= flag
        return activation.data == BODY and flag != RETURNING

    def pass_done(self, live: LiveInstance, owner: Activation, scope: Scope, outcome: Outcome) -> None:
        flags, owner.flags = owner.flags, 0
        if flags & (BREAKING | RETURNING):
            live.complete(owner)
        else:
            run_guarded(live, owner, self.next_pass)

    def next_pass(self, live: LiveInstance, owner: Activation) -> None:
        raise NotImplementedError

    def run_body(self, live: LiveInstance, owner: Activation) -> None:
        assert self.body is not None
        live.queue.append((self.body, owner, owner.scope))

    def end(self, live: LiveInstance, owner: Activation) -> None:
        owner.data = ELSE
        if self.otherwise is None:
            live.complete(owner)
        else:
            live.queue.append((self.otherwise, owner, owner.scope))

    def else_done(self, live: LiveInstance, owner: Activation, scope: Scope, outcome: Outcome) -> None:
        live.complete(owner)


class LoopOver(Activity, pure=True, container=True, category="Code", icon="repeat", browsable=False):
    """`for target in items`: the body runs for each item, `otherwise` when the items are exhausted."""

    items: Any = field(evaluated=False)
    """Iterable to loop over."""
    target: Any = field(evaluated=False)
    """Statements that assign the item to the loop's target."""
    iterator: str
    """Temporary that holds the iterator."""
    item: str
    """Temporary that holds the item until `target` has assigned it."""
    body: Activity | None = port()
    otherwise: Activity | None = port(display_name="Else")

    @classmethod
    def compile(cls, builder: NodeBuilder) -> Op:
        return _LoopOver(builder).op


class _LoopOver(_Loop):
    def __init__(self, builder: NodeBuilder) -> None:
        self.items = block_of(builder, "items")
        self.target = block_of(builder, "target", statements=True)
        self.iterator, self.item = slot_of(builder, "iterator"), slot_of(builder, "item")
        self.label = str(builder.definition.metadata.get("title", "the loop"))
        super().__init__(builder)

    def op(self, live: LiveInstance, owner: Activation, scope: Scope) -> None:
        iterator = iter(self.items(live, owner, scope))
        if not is_storable_iterator(iterator):
            raise ValueRefused(
                f"the items of '{self.label}'",
                type(iterator).__name__,
                remedy="The loop awaits, and this iterator cannot be stored between two items. Loop over a list: list(…).",
            )
        activation = live.activate(self.node, owner, scope)
        scope[self.iterator] = iterator
        activation.data = BODY
        self.next_pass(live, activation)

    def next_pass(self, live: LiveInstance, owner: Activation) -> None:
        scope = owner.scope
        if scope.__class__ is not list:
            before_next(scope, self.iterator)
        found = next(scope[self.iterator], UNSET)
        if scope.__class__ is not list:
            mention_value(scope, found)
        if found is UNSET:
            scope[self.iterator] = UNSET
            self.end(live, owner)
            return
        scope[self.item] = found
        self.target(live, owner, scope)
        scope[self.item] = UNSET
        self.run_body(live, owner)


class LoopWhile(Activity, pure=True, container=True, category="Code", icon="repeat", browsable=False):
    """`while condition`: `before` computes the awaited parts of the condition, `otherwise` runs when the condition is
    false.
    """

    condition: Any = field(evaluated=False)
    """Condition to evaluate before each pass."""
    before: Activity | None = port()
    body: Activity | None = port()
    otherwise: Activity | None = port(display_name="Else")

    @classmethod
    def compile(cls, builder: NodeBuilder) -> Op:
        return _LoopWhile(builder).op


class _LoopWhile(_Loop):
    def __init__(self, builder: NodeBuilder) -> None:
        self.condition = block_of(builder, "condition")
        self.before = builder.child("before", self.before_done)
        super().__init__(builder)

    def op(self, live: LiveInstance, owner: Activation, scope: Scope) -> None:
        activation = live.activate(self.node, owner, scope)
        activation.data = BODY
        self.next_pass(live, activation)

    def next_pass(self, live: LiveInstance, owner: Activation) -> None:
        if self.before is not None:
            live.queue.append((self.before, owner, owner.scope))
        else:
            self.decide(live, owner)

    def before_done(self, live: LiveInstance, owner: Activation, scope: Scope, outcome: Outcome) -> None:
        run_guarded(live, owner, self.decide)

    def decide(self, live: LiveInstance, owner: Activation) -> None:
        if not self.condition(live, owner, owner.scope):
            self.end(live, owner)
        else:
            self.run_body(live, owner)
