"""Activities that end a loop, a workflow or an instance, and the markers Start and End."""

from __future__ import annotations

from typing import Any

import msgspec

from holdfast.authoring.activity import Activity
from holdfast.errors import ActivityFault
from holdfast.execution.activation import BREAKING, COMPLETED, CONTINUING, Activation
from holdfast.execution.builder import NodeBuilder
from holdfast.execution.cancellation import cancel_kids, end_finalizer, forget_bookmarks, withdraw_all
from holdfast.execution.live import LiveInstance
from holdfast.execution.plan import Op
from holdfast.model.instance import JournalEvent
from holdfast.model.scope import Scope

ENDED = JournalEvent.COMPLETED


def _signal(builder: NodeBuilder, flag: int) -> Op:
    """Signal the ancestors up to the loop, then complete."""
    index, done = builder.node.index, builder.done

    def op(live: LiveInstance, owner: Activation, scope: Scope) -> None:
        n = live.sequence = live.sequence + 1
        ancestor: Activation | None = owner
        while ancestor is not None:
            stop = ancestor.node.hooks.stop
            if stop is not None and stop(live, ancestor, flag):
                break
            ancestor = ancestor.owner
        live.journal.append((ENDED, index, n, live.now(), None))
        done(live, owner, scope, None)

    return op


class Break(Activity, pure=True, terminal=True, category="Looping", icon="log-out"):
    """Ends the nearest loop and every sequence inside it."""

    @classmethod
    def compile(cls, builder: NodeBuilder) -> Op:
        return _signal(builder, BREAKING)


class Continue(Activity, pure=True, terminal=True, category="Looping", icon="skip-forward"):
    """Ends the current pass of the nearest loop and continues with the next pass."""

    @classmethod
    def compile(cls, builder: NodeBuilder) -> Op:
        return _signal(builder, CONTINUING)


class Complete(Activity, pure=True, terminal=True, category="Composition", icon="check-circle"):
    """Completes the enclosing workflow with outcomes. A workflow used as an activity completes without ending its
    parent.
    """

    outcomes: Any = "Done"
    """Outcome, or list of outcomes."""

    @classmethod
    def compile(cls, builder: NodeBuilder) -> Op:
        index, done = builder.node.index, builder.done
        outcomes_of = builder.input("outcomes", "Done")

        def op(live: LiveInstance, owner: Activation, scope: Scope) -> None:
            n = live.sequence = live.sequence + 1
            names = outcome_names(outcomes_of(scope))
            live.journal.append((ENDED, index, n, live.now(), names))
            composite = owner
            while not composite.node.composite and composite.owner is not None:
                composite = composite.owner
            finish = composite.node.hooks.finish
            if composite is live.cleanup:
                end_finalizer(live, owner)
                return
            if finish is not None:
                finish(live, composite, names)
            if not owner.status:
                done(live, owner, scope, None)

        return op


def outcome_names(value: Any) -> tuple[str, ...]:
    """Outcomes from text, a list, or JSON text of a list."""
    if isinstance(value, str):
        text = value.strip()
        if text.startswith("["):
            try:
                value = msgspec.json.decode(text)
            except msgspec.DecodeError:
                return (text,)
        else:
            return (text,)
    if value is None:
        return ("Done",)
    if isinstance(value, list | tuple | set):
        return tuple(str(item) for item in value)
    return (str(value),)


class Finish(Activity, pure=True, terminal=True, category="Primitives", icon="flag"):
    """Ends the whole instance. Running and waiting activities are canceled."""

    @classmethod
    def compile(cls, builder: NodeBuilder) -> Op:
        index = builder.node.index

        def op(live: LiveInstance, owner: Activation, scope: Scope) -> None:
            n = live.sequence = live.sequence + 1
            live.journal.append((ENDED, index, n, live.now(), None))
            top = owner
            while top.owner is not None:
                top = top.owner
            cancel_kids(live, live.root)
            forget_bookmarks(live, live.root)
            live.waiters.pop(live.root.id, None)
            live.root.status = live.root.status or COMPLETED
            withdraw_all(live)
            if top is live.cleanup:
                end_finalizer(live, owner)

        return op


class Fault(Activity, pure=True, category="Primitives", icon="alert-triangle"):
    """Fails with the given error."""

    message: str | None = None
    """Error message."""
    code: str = "0"
    """Error code."""
    category: str = "General"
    """Error category."""
    fault_type: str = "System"
    """Origin of the fault, such as `System` or `Business`."""

    @classmethod
    def compile(cls, builder: NodeBuilder) -> Op:
        message, code = builder.input("message"), builder.input("code", "0")
        category, kind = builder.input("category", "General"), builder.input("fault_type", "System")

        def fail(live: LiveInstance, scope: Scope) -> None:
            text = message(scope)
            raise ActivityFault(
                "" if text is None else str(text),
                code=str(code(scope)),
                category=str(category(scope)),
                fault_type=str(kind(scope)),
            )

        return builder.leaf(fail)


class Start(Activity, pure=True, start=True, category="Flow", icon="play"):
    """Marks the start of a flowchart."""

    @classmethod
    def compile(cls, builder: NodeBuilder) -> Op:
        return builder.leaf(_nothing)


class End(Activity, pure=True, terminal=True, category="Flow", icon="square"):
    """Marks the end of a flowchart or sequence."""

    @classmethod
    def compile(cls, builder: NodeBuilder) -> Op:
        return builder.leaf(_nothing)


def _nothing(live: LiveInstance, scope: Scope) -> None:
    return None
