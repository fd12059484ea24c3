"""`try` with an await inside: pending exceptions and jumps are stored as data while `finally` runs."""

from __future__ import annotations

from typing import Any

from holdfast.activities.code.flow import (
    RETURNING,
    attempt_of,
    call_while_handling,
    complete_traceback,
    frame_of,
    signal,
    slot_of,
    text_of,
)
from holdfast.authoring.activity import Activity
from holdfast.authoring.fields import entries, port
from holdfast.execution import faults
from holdfast.execution.activation import Activation
from holdfast.execution.builder import NodeBuilder
from holdfast.execution.cancellation import cancel_kids, withdraw
from holdfast.execution.composite import UNSET
from holdfast.execution.frames import RESULT, make_function
from holdfast.execution.heap.tracebacks import prepend_entry, without_package_frames
from holdfast.execution.heap.tracked_scope import mention
from holdfast.execution.interruption import interrupt_kids
from holdfast.execution.live import LiveInstance
from holdfast.execution.plan import Node, Op, Outcome
from holdfast.model.instance import JournalEvent
from holdfast.model.module_names import public_name
from holdfast.model.scope import Scope

BODY, HANDLER, ELSE, FINALLY = "body", "handler", "else", "finally"
RAISE = "raise"


class Attempt(Activity, pure=True, container=True, category="Code", icon="shield", browsable=False):
    """`try` statement: a handler catches an exception by type, `otherwise` runs if the body raised none, `finally`
    always runs.
    """

    error: str
    """Temporary that holds the exception."""
    value: str
    """Temporary that holds a return value while `finally` runs."""
    body: Activity | None = port()
    handlers: list[dict[str, Any]] = entries()
    otherwise: Activity | None = port(display_name="Else")
    finally_: Activity | None = port(display_name="Finally")

    @classmethod
    def compile(cls, builder: NodeBuilder) -> Op:
        return AttemptNode(builder).op


class Handler:
    """One `except` clause: its exception types, the name it binds, and its body."""

    def __init__(self, kind: Any, name: int | None, node: Node | None, line: int) -> None:
        self.line = line
        self.kind = kind
        self.name = name
        self.node = node


class AttemptNode:
    """data = [phase, the pending jump or exception, index of the running handler]"""

    def __init__(self, builder: NodeBuilder) -> None:
        self.node = builder.node
        self.shape = frame_of(builder)
        self.error, self.value = slot_of(builder, "error"), slot_of(builder, "value")
        self.body = builder.child("body", self.part_done)
        self.otherwise = builder.child("otherwise", self.part_done)
        builder.compiler.handlers += 1
        self.handlers = [
            self._handler(builder, number, item) for number, item in enumerate(builder.entries("handlers"))
        ]
        self.last = builder.child("finally_", self.finally_done, lendable=True)
        builder.compiler.handlers -= 1
        self.node.hooks.fault = self.fault
        self.node.hooks.stop = self.stop
        self.node.hooks.finalizer = self.finalizer
        self.node.hooks.unbroken = self.unbroken

    def _handler(self, builder: NodeBuilder, number: int, item: Any) -> Handler:
        shape = self.shape
        errors, name = item.data.get("errors"), item.data.get("name")
        lines = builder.definition.metadata.get("lines", {}).get(f"errors{number}")
        kind = make_function(text_of(errors, f"{self.node.key}.errors"), shape, lines) if errors is not None else None
        body = item.activities.get("body")
        path = f"{builder.path}/handlers/{number}/body"
        node = builder.place(body, self.part_done, path) if body is not None else None
        return Handler(kind, shape.names[name] if name else None, node, lines[0][0] if lines else 1)

    def op(self, live: LiveInstance, owner: Activation, scope: Scope) -> None:
        activation = live.activate(self.node, owner, scope)
        activation.data = [BODY, None, 0]
        if self.body is None:
            self.part_done(live, activation, scope, None)
        else:
            live.queue.append((self.body, activation, scope))

    # -- end of a part ---------------------------------------------------------------------------------------------------

    def part_done(self, live: LiveInstance, owner: Activation, scope: Scope, outcome: Outcome) -> None:
        """The body, `else` or a handler has ended, possibly by a jump."""
        if owner.status:
            return
        phase, pending, _ = owner.data
        if phase == BODY and self.otherwise is not None and not owner.flags and pending is None:
            owner.data[0] = ELSE
            live.queue.append((self.otherwise, owner, owner.scope))
            return
        self.forget(owner)
        if self.last is None:
            live.complete(owner)
            return
        owner.data[0] = FINALLY
        live.queue.append((self.last, owner, owner.scope))

    def finally_done(self, live: LiveInstance, owner: Activation, scope: Scope, outcome: Outcome) -> None:
        pending, frame = owner.data[1], owner.scope
        mention(frame, self.value)
        error, value = frame[self.error], frame[self.value]
        frame[self.error] = frame[self.value] = UNSET
        if owner.flags or pending is None:
            live.complete(owner)
        elif pending == RAISE:
            faults.fault(live, owner, error)
        else:
            if pending == RETURNING:
                frame[frame[1].names[RESULT]] = value
            signal(live, owner.owner, pending)
            live.complete(owner)

    def stop(self, live: LiveInstance, activation: Activation, flag: int) -> bool:
        """A pending jump waits for `finally`. A jump out of `finally` replaces any pending jump or exception."""
        frame = activation.scope
        if self.last is not None and activation.data[0] != FINALLY:
            activation.data[1] = flag
            if flag == RETURNING:
                mention(frame, frame[1].names[RESULT])
                frame[self.value] = frame[frame[1].names[RESULT]]
            return True
        activation.flags |= flag
        if activation.data[0] == FINALLY:
            activation.data[1] = None
        return False

    # -- exceptions ----------------------------------------------------------------------------------------------------

    def fault(self, live: LiveInstance, activation: Activation, failed: Activation, error: BaseException) -> bool:
        complete_traceback(activation, failed, error)
        phase, frame = activation.data[0], activation.scope
        try:
            taken = self._find(frame, error) if phase == BODY else None
        except Exception as other:  # noqa: BLE001 # the types of an `except` clause may fail to evaluate
            return self._replace(live, activation, failed, other)
        if taken is None and (self.last is None or phase == FINALLY):
            return False
        self._end_parts(live, activation, retryable=taken is None)
        if taken is None:
            self._wait_for_finally(live, activation, error)
            return True
        handler = self.handlers[taken]
        activation.data = [HANDLER, None, taken]
        frame[self.error] = error
        if handler.name is not None:
            frame[handler.name] = error
        live.note(JournalEvent.DECIDED, activation, {"caught": faults.type_name(error)})
        if handler.node is None:
            self.part_done(live, activation, frame, None)
        else:
            live.queue.append((handler.node, activation, frame))
        return True

    def _find(self, frame: Scope, error: BaseException) -> int | None:
        for number, handler in enumerate(self.handlers):
            if handler.kind is None:
                return number
            kind = call_while_handling(error, handler.kind, frame)
            try:
                if matches(error, kind):
                    return number
            except TypeError as refusal:  # the value is not an exception class
                refusal.__traceback__ = prepend_entry(None, self.shape.file, handler.line, self.shape.function)
                raise
        return None

    def _replace(self, live: LiveInstance, activation: Activation, failed: Activation, other: BaseException) -> bool:
        other.__traceback__ = without_package_frames(other.__traceback__)
        self._end_parts(live, activation, retryable=True)
        if self.last is not None:
            self._wait_for_finally(live, activation, other)
        else:
            faults.fault(live, activation, other)
        return True

    def _end_parts(self, live: LiveInstance, activation: Activation, *, retryable: bool) -> None:
        """End the parts that run. `retryable`: the statement fails as a whole, so a retry runs it again."""
        for item in activation.descendants():
            attempt = attempt_of(item)
            if attempt is not None:
                attempt.forget(item)
        self.forget(activation)
        (interrupt_kids if retryable else cancel_kids)(live, activation)
        withdraw(live, [activation])
        activation.flags = 0

    def _wait_for_finally(self, live: LiveInstance, activation: Activation, error: BaseException) -> None:
        assert self.last is not None
        activation.data = [FINALLY, RAISE, 0]
        activation.scope[self.error] = error
        live.queue.append((self.last, activation, activation.scope))

    def forget(self, activation: Activation) -> None:
        """Leave a handler: unbind the name of its exception."""
        if activation.data[0] != HANDLER:
            return
        handler, frame = self.handlers[activation.data[2]], activation.scope
        frame[self.error] = UNSET
        if handler.name is not None:
            frame[handler.name] = UNSET

    def handled(self, activation: Activation) -> BaseException | None:
        phase, pending, _ = activation.data
        if phase == HANDLER or (phase == FINALLY and pending == RAISE):
            error: Any = activation.scope[self.error]
            return None if error is UNSET else error
        return None

    def finalizer(self, activation: Activation) -> Node | None:
        return self.last if activation.data and activation.data[0] != FINALLY else None

    def unbroken(self, live: LiveInstance, activation: Activation) -> list[tuple[Node, Scope]] | None:
        return [] if activation.data and activation.data[0] == FINALLY else None


def matches(error: BaseException, kind: Any) -> bool:
    """Match as `except kind` does. An exception from another process also matches by the names of its classes."""
    traceback, context = error.__traceback__, error.__context__
    try:
        raise error
    except kind:
        return True
    except BaseException as other:
        if other is not error:
            raise
    finally:
        error.__traceback__, error.__context__ = traceback, context
    kinds = kind if isinstance(kind, tuple) else (kind,)
    names = set(getattr(error, "names", ()))
    return any(public_name(item) in names or item.__name__ in names for item in kinds)
