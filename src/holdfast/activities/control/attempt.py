"""Try: catches faults by type and runs a finalizer."""

from __future__ import annotations

from typing import Any

from holdfast.authoring.activity import Activity
from holdfast.authoring.fields import entries, port
from holdfast.execution import faults
from holdfast.execution.activation import Activation
from holdfast.execution.builder import NodeBuilder
from holdfast.execution.cancellation import cancel_kids, withdraw
from holdfast.execution.faults import error_names
from holdfast.execution.interruption import interrupt_kids
from holdfast.execution.live import LiveInstance
from holdfast.execution.plan import Node, Op, Outcome
from holdfast.model.instance import JournalEvent
from holdfast.model.scope import Scope, Shape

ERROR = "Error"
"""Variable of a catch that holds the fault: `{"type": …, "message": …}`."""

BODY, CATCH, FINALLY = "body", "catch", "finally"


class Try(Activity, pure=True, container=True, category="Control flow", icon="shield"):
    """Runs its body. A fault goes to the first catch that lists its type or lists no types. `finally` always runs.

    A catch is `{"errors": ["TimeoutError"], "activity": …}`; without `errors` it catches every fault. `finally` also
    runs when the instance is canceled.
    """

    body: Activity | None = port()
    """Activity whose faults are caught."""
    catches: list[dict[str, Any]] = entries(keys=("errors", "activity"), variables=(ERROR,))
    """Handlers: `{"errors": [type names], "activity": …}`. The activity can use the variable `Error`."""
    finally_: Activity | None = port(display_name="Finally")
    """Runs after the body or the catch, also after a fault or a cancellation."""

    @classmethod
    def compile(cls, builder: NodeBuilder) -> Op:
        return _TryNode(builder).op


class _TryNode:
    """data = [phase, pending fault as an exception value or None]"""

    def __init__(self, builder: NodeBuilder) -> None:
        self.node = builder.node
        self.shape = builder.shape("catches", {ERROR: None})
        self.body = builder.child("body", self.body_done)
        self.last = builder.child("finally_", self.finally_done, lendable=True)
        self.catches: list[tuple[tuple[str, ...], Node | None]] = [
            (
                self.names(item.data.get("errors", ())),
                builder.place(
                    item.activities["activity"], self.body_done, f"{builder.path}/catches/{n}", shape=self.shape
                )
                if "activity" in item.activities
                else None,
            )
            for n, item in enumerate(builder.entries("catches"))
        ]
        self.node.hooks.fault = self.fault
        self.node.hooks.finalizer = self.finalizer
        self.node.hooks.unbroken = self.unbroken

    @staticmethod
    def names(errors: Any) -> tuple[str, ...]:
        return (errors,) if isinstance(errors, str) else tuple(str(item) for item in errors or ())

    def op(self, live: LiveInstance, owner: Activation, scope: Scope) -> None:
        activation = live.activate(self.node, owner, scope)
        activation.data = [BODY, None]
        if self.body is None:
            self.body_done(live, activation, scope, None)
        else:
            live.queue.append((self.body, activation, scope))

    def body_done(self, live: LiveInstance, owner: Activation, scope: Scope, outcome: Outcome) -> None:
        if owner.status:
            return
        if self.last is None:
            live.complete(owner)
            return
        owner.data[0] = FINALLY
        live.queue.append((self.last, owner, owner.scope))

    def finally_done(self, live: LiveInstance, owner: Activation, scope: Scope, outcome: Outcome) -> None:
        pending = owner.data[1]
        if pending is None:
            live.complete(owner)
        else:
            faults.fault(live, owner, pending)

    def fault(self, live: LiveInstance, activation: Activation, failed: Activation, error: BaseException) -> bool:
        phase = activation.data[0]
        handler = self._catch(error) if phase == BODY else None
        if handler is None and (self.last is None or phase == FINALLY):
            return False
        (interrupt_kids if handler is None else cancel_kids)(live, activation)
        withdraw(live, [activation])
        if handler is None:
            # Run `finally` first. It raises the fault again afterwards.
            activation.data = [FINALLY, error]
            assert self.last is not None
            live.queue.append((self.last, activation, activation.scope))
            return True
        activation.data[0] = CATCH
        caught, shape = handler[1], self.shape
        live.note(JournalEvent.DECIDED, activation, {"caught": faults.type_name(error)})
        if caught is None:
            self.body_done(live, activation, activation.scope, None)
            return True
        assert isinstance(shape, Shape)
        scope = shape.open(activation.scope)
        scope[shape.names[ERROR]] = {"type": faults.type_name(error), "message": str(error)}
        live.queue.append((caught, activation, scope))
        return True

    def _catch(self, error: BaseException) -> tuple[tuple[str, ...], Node | None] | None:
        names = set(error_names(error))
        return next((item for item in self.catches if not item[0] or names & set(item[0])), None)

    def finalizer(self, activation: Activation) -> Node | None:
        return self.last if activation.data and activation.data[0] != FINALLY else None

    def unbroken(self, live: LiveInstance, activation: Activation) -> list[tuple[Node, Scope]] | None:
        return [] if activation.data and activation.data[0] == FINALLY else None
