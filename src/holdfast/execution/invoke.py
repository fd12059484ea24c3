"""Activities written as classes: evaluates inputs once, calls `execute` or a callback, and applies the record.

A pure activity runs inside the segment. An effect is recorded and runs outside the segment, with the same inputs on
every attempt; its record is applied when the result arrives. Both use `apply`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import iscoroutine
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from holdfast.errors import InputEvaluationFailed, PureActivityWaited, VariableNotFound
from holdfast.execution import cancellation, faults, preconditions
from holdfast.execution.activation import Activation
from holdfast.execution.builder import NodeBuilder
from holdfast.execution.context import ChildRef, Facts, RecordingContext
from holdfast.execution.interruption import continue_interrupted
from holdfast.execution.journal import captured, masked
from holdfast.execution.plan import Done, Node, Op, Outcome
from holdfast.execution.properties import changed
from holdfast.execution.record import ALL_CHILDREN, Record, ScheduledChild, argument_data
from holdfast.execution.typed_values import AS_THEY_ARE
from holdfast.model import values
from holdfast.model.definition import ActivityNode, PortEntry
from holdfast.model.descriptor import Kind
from holdfast.model.instance import Bookmark, BookmarkKind, JournalEvent
from holdfast.model.scope import Scope, Shape, find, find_input, write
from holdfast.model.types import conforms, convert
from holdfast.ports import ChildResult

if TYPE_CHECKING:
    from holdfast.execution.live import LiveInstance

ChildKey = tuple[str, int, str | None]

NUMBER = "~number"
"""Hidden slot in a child's scope: number of the `schedule` call that the child belongs to."""


class EffectCall(Struct, frozen=True, kw_only=True):
    """Call of an effect, independent of where it runs."""

    run: Callable[[Mapping[str, Any], RecordingContext, str, Any], Any]
    """(inputs, context, method, argument) → a value or an awaitable. The context's record is the result."""
    mode: str = "async"
    """`async`, `thread` or `process`."""
    function: Callable[..., Any] | None = None
    """For `process`: the bare function, which must be importable in the worker process."""
    bare: bool = False
    """`function` takes only the inputs. Without middleware it needs no context."""


class ObjectActivity:
    """Compiled form of one node of a class activity."""

    def __init__(self, builder: NodeBuilder, activity: Any) -> None:
        self.builder = builder
        self.node = builder.node
        self.new: Callable[..., Any] = activity.new
        """(inputs, ports) → an object with `execute`."""
        self.is_effect = builder.node.descriptor.kind is Kind.EFFECT
        self.inputs = evaluators(builder)
        self.lazy = {
            item.name: builder.expression(item.name)
            for item in builder.node.descriptor.inputs
            if not item.evaluated and builder.has_input(item.name)
        }
        self.outputs = {item.name: builder.output(item.name) for item in builder.node.descriptor.outputs}
        self.open = builder.open()
        self.children: dict[ChildKey, tuple[Node, Shape]] = {}
        self.ports = self._place_children(builder)
        self.node.hooks.resume = self.resume
        self.node.hooks.result = apply_result(self)
        self.node.hooks.stop = None
        if self.is_effect:
            self.node.effect = EffectCall(run=self.run_effect, mode="async" if activity.is_async else "thread")

    # -- children ------------------------------------------------------------------------------------------------------

    def _place_children(self, builder: NodeBuilder) -> dict[str, Any]:
        """Compile the children of all ports and make the references that the author's code sees."""
        ports: dict[str, Any] = {}
        for descriptor in builder.node.descriptor.ports:
            shape = builder.compiler.shape(f"{builder.node.key}#{descriptor.name}", dict.fromkeys(descriptor.variables))
            shape.add(shape.outputs, NUMBER, "integer", 0)
            value = builder.definition.ports.get(descriptor.name)
            path = f"{builder.path}/{descriptor.name}"
            if isinstance(value, ActivityNode):
                ports[descriptor.name] = self._place(value, (descriptor.name, -1, None), shape, path)
            elif isinstance(value, tuple):
                ports[descriptor.name] = tuple(
                    self._place_item(item, descriptor.name, index, shape, f"{path}/{index}")
                    for index, item in enumerate(value)
                )
        return ports

    def _place_item(self, item: Any, port: str, index: int, shape: Shape, path: str) -> Any:
        if isinstance(item, PortEntry):
            refs = {
                name: self._place(child, (port, index, name), shape, f"{path}/{name}")
                for name, child in item.activities.items()
            }
            return {**item.data, **refs}
        return self._place(item, (port, index, None), shape, path)

    def _place(self, child: ActivityNode, key: ChildKey, shape: Shape, path: str) -> ChildRef:
        node = self.builder.place(child, self._child_done(key), path, shape=shape)
        self.children[key] = (node, shape)
        return ChildRef(key[0], child.id, child.name, key[1], key[2])

    def _child_done(self, key: ChildKey) -> Done:
        def done(live: LiveInstance, owner: Activation, scope: Scope, outcome: Outcome) -> None:
            if owner.status:
                return
            waiting: list[dict[str, Any]] = owner.data["waiting"]
            number = _number(scope)
            entry = next((item for item in waiting if item["number"] == number), None)
            if entry is None:
                return
            waiting.remove(entry)
            if entry["callback"] is None:
                self._complete_if_idle(live, owner)
                return
            outcomes = (outcome,) if isinstance(outcome, str) else outcome or ()
            child, _ = self.children[key]
            result = ChildResult(child_id=child.definition.id, outcomes=outcomes, tag=entry["tag"])
            try:
                self.call(live, owner, entry["callback"], result)
            except Exception as error:  # noqa: BLE001 - user code
                # A fault of the callback, not of the child, which has completed.
                faults.fault(live, owner, faults.with_input_name(self.node, error))

        return done

    # -- execution -----------------------------------------------------------------------------------------------------

    def operation(self) -> Op:
        node, inputs, open_scope = self.node, self.inputs, self.open

        def op(live: LiveInstance, owner: Activation, scope: Scope) -> None:
            given = evaluate_all(inputs, scope)
            if live.interrupted and self._continue(live, owner, scope, given):
                return
            activation = live.activate(node, owner, scope, open_scope(scope))
            activation.data = {"inputs": given, "state": {}, "waiting": [], "scheduled": 0}
            if given:
                live.journal[-1] = (*live.journal[-1][:4], {"inputs": masked(node, given)})
            self.call(live, activation, "execute", None)

        return op

    def _continue(self, live: LiveInstance, owner: Activation, scope: Scope, given: dict[str, Any]) -> bool:
        """Continue an interrupted effect, from `execute`. False if there is none."""
        data = {"inputs": given, "state": {}, "waiting": [], "scheduled": 0, "call": ["execute", argument_data(None)]}
        return self.is_effect and continue_interrupted(live, self.node, owner, (scope, self.open(scope)), data)

    def call(self, live: LiveInstance, activation: Activation, method: str, argument: Any) -> None:
        """Run a method of the activity: at once if it is pure, otherwise as an effect."""
        if self.is_effect:
            inputs = activation.data["inputs"]
            activation.data["call"] = [method, argument_data(argument)]
            live.record_effect(activation, inputs, method=method, argument=argument)
            return
        context = self._context(live, activation)
        self._invoke(activation.data["inputs"], context, method, argument, activation.outer)
        self.apply(live, activation, context.record)

    def _invoke(
        self, inputs: Mapping[str, Any], context: RecordingContext, method: str, argument: Any, scope: Scope
    ) -> None:
        context._activity = target = self.bound(inputs, scope)
        result = getattr(target, method)(context, *(() if method == "execute" else (argument,)))
        if iscoroutine(result):
            finish_at_once(result, self.node.definition.type)

    def bound(self, inputs: Mapping[str, Any], scope: Scope) -> Any:
        """The author's object with its inputs; it may change them."""
        lazy = {name: _lazy(expression.evaluate, scope) for name, expression in self.lazy.items()}
        return self.new({**values.copy(inputs), **lazy}, self.ports)

    def run_effect(self, inputs: Mapping[str, Any], context: RecordingContext, method: str, argument: Any) -> Any:
        target = self.new(dict(inputs), self.ports)
        context._activity = target
        return getattr(target, method)(context, *(() if method == "execute" else (argument,)))

    def resume(self, live: LiveInstance, activation: Activation, bookmark: Bookmark, payload: Any) -> None:
        if bookmark.callback is not None:
            self.call(live, activation, bookmark.callback, payload)
        elif bookmark.auto_complete:
            self.complete(live, activation, None)

    def _context(self, live: LiveInstance, activation: Activation) -> RecordingContext:
        return RecordingContext(
            facts_of(live, activation),
            live.services,
            activation.data["state"],
            read_variable=variable_reader(activation),
            properties=live.properties,
            transient=live.transient_properties(),
        )

    # -- application of the record -------------------------------------------------------------------------------------

    def apply(self, live: LiveInstance, activation: Activation, record: Record) -> None:
        values.check(activation.data["state"], "state")
        apply_plain(live, activation, record, self.outputs)
        for tag in record.canceled_tags:
            self._cancel_children(live, activation, tag)
        if record.canceled:
            cancellation.cancel(live, activation)
            return
        for request in record.bookmarks:
            live.bookmark(activation, request)
        for child in record.children:
            self._schedule(live, activation, child)
        if record.completed:
            self.complete(live, activation, record.outcomes)
        else:
            self._complete_if_idle(live, activation)

    def _complete_if_idle(self, live: LiveInstance, activation: Activation) -> None:
        """Complete, unless the activity left something to wait for."""
        kinds = {live.bookmarks[key].kind for key in activation.bookmarks or ()}
        limit = activation.node.timeout
        if not activation.data["waiting"] and kinds <= {BookmarkKind.TIMEOUT}:
            self.complete(live, activation, None)
        elif limit is not None and BookmarkKind.TIMEOUT not in kinds:
            live.arm_timeout(activation, limit)  # it fired, or was dropped with a failed attempt, while the effect ran

    def complete(self, live: LiveInstance, activation: Activation, outcomes: Outcome) -> None:
        live.complete(activation, outcomes)
        if activation.data["waiting"]:
            cancellation.leave_queued(live, activation)

    def _schedule(self, live: LiveInstance, activation: Activation, request: ScheduledChild) -> None:
        key = (request.port, request.index, request.field)
        node, shape = self.children[key]
        scope = shape.open(activation.scope)
        for name, value in request.variables.items():
            if name not in shape.names:
                raise VariableNotFound(f"{name}' handed to the port '{request.port}")
            scope[shape.names[name]] = values.copy(value, name)
        number = activation.data["scheduled"] = activation.data["scheduled"] + 1
        scope[shape.outputs[NUMBER]] = number
        activation.data["waiting"].append({"number": number, "callback": request.callback, "tag": request.tag})
        live.queue.append((node, activation, scope))

    def _cancel_children(self, live: LiveInstance, activation: Activation, tag: Any) -> None:
        waiting: list[dict[str, Any]] = activation.data["waiting"]
        gone = {item["number"] for item in waiting if tag in (ALL_CHILDREN, item["tag"])}
        activation.data["waiting"] = [item for item in waiting if item["number"] not in gone]
        for kid in [kid for kid in (activation.kids or {}).values() if _number(kid.outer) in gone]:
            cancellation.cancel(live, kid, notify=False)
        queued = [item for item in live.queue if not (item[1] is activation and _number(item[2]) in gone)]
        live.queue.clear()
        live.queue.extend(queued)


class PreconditionedActivity(ObjectActivity):
    """Compiled form of a class activity with `can_execute`."""

    def call(self, live: LiveInstance, activation: Activation, method: str, argument: Any) -> None:
        if method == "execute" and not self._can_execute(live, activation):
            preconditions.wait(live, activation)
        else:
            super().call(live, activation, method, argument)

    def _can_execute(self, live: LiveInstance, activation: Activation) -> bool:
        context = self._context(live, activation)
        context._activity = target = self.bound(activation.data["inputs"], activation.outer)
        return preconditions.holds(target, context)

    def resume(self, live: LiveInstance, activation: Activation, bookmark: Bookmark, payload: Any) -> None:
        if bookmark.callback == preconditions.CHECK:
            activation.data["inputs"] = evaluate_all(self.inputs, activation.outer)
            self.call(live, activation, "execute", None)
        else:
            super().resume(live, activation, bookmark, payload)


def object_operation(builder: NodeBuilder, activity: Any) -> Op:
    kind = PreconditionedActivity if activity.has_precondition else ObjectActivity
    return kind(builder, activity).operation()


# -- shared with functions.py ------------------------------------------------------------------------------------------


def evaluators(builder: NodeBuilder) -> list[tuple[str, Callable[[Scope], Any], str]]:
    return [
        (item.name, builder.input(item.name, logged=False), item.type)  # The record of the activity has them.
        for item in builder.node.descriptor.inputs
        if item.evaluated and (builder.has_input(item.name) or not item.required)
    ]


def evaluate_all(inputs: list[tuple[str, Callable[[Scope], Any], str]], scope: Scope) -> dict[str, Any]:
    """Evaluate inputs by value, so that changes by the activity stay local to it."""
    given = {}
    for name, evaluate, type_name in inputs:
        value = given[name] = evaluate(scope)
        if value.__class__ in AS_THEY_ARE.get(type_name, _NO_TYPES):
            continue
        if value.__class__ not in values.SCALARS:
            value = values.copy(value)
        try:
            given[name] = value if conforms(value, type_name) else convert(value, type_name)
        except ValueError as error:
            raise InputEvaluationFailed(name, error) from error
    return given


_NO_TYPES: frozenset[type] = frozenset()


def finish_at_once(coroutine: Any, type_name: str) -> Any:
    """Run a coroutine that must not suspend."""
    try:
        coroutine.send(None)
    except StopIteration as end:
        return end.value
    coroutine.close()
    raise PureActivityWaited(type_name)


def apply_plain(live: LiveInstance, activation: Activation, record: Record, outputs: Mapping[str, Any]) -> None:
    """Apply the part of a record that all kinds of activities share."""
    for message, data in record.journal:
        live.note(JournalEvent.LOGGED, activation, {"message": message, "data": captured(data)})
    live.lines.extend(record.lines)
    live.correlation_id = record.correlation_id or live.correlation_id
    live.name = record.name or live.name
    if record.properties or record.removed_properties:
        live.properties = changed(live.properties, record)
    for name, value in record.variables.items():
        found = find(activation.scope, name)
        if found is None:
            raise VariableNotFound(name)
        write(*found, value)
    for name, value in record.outputs.items():
        put = outputs.get(name)
        if put is None:
            raise VariableNotFound(f"{name}' (an output of {activation.node.definition.type}")
        put(live, activation.outer, value)
    for event in record.published:
        live.publish(activation, event)


def apply_result(activity: ObjectActivity) -> Callable[[LiveInstance, Activation, Record], None]:
    def result(live: LiveInstance, activation: Activation, record: Record) -> None:
        if record.state is not None:
            activation.data["state"] = record.state
        activity.apply(live, activation, record)

    return result


def facts_of(live: LiveInstance, activation: Activation) -> Facts:
    started = live.takes_trigger(activation.node)
    return Facts(
        instance_id=live.id,
        correlation_id=live.correlation_id,
        definition_id=live.definition_id,
        activity_id=activation.node.key,
        execution_id=activation.id,
        attempt=activation.attempt,
        now=live.moment(),
        trigger_payload=live.trigger_payload if started else None,
        started_instance=started,
    )


def variable_reader(activation: Activation) -> Callable[[str], Any]:
    """Reads current variables (then workflow inputs) by value."""

    def read(name: str) -> Any:
        found = find(activation.scope, name) or find_input(activation.scope, name)
        if found is None:
            raise VariableNotFound(name)
        return values.copy(found[0][found[1]])

    return read


def _number(scope: Scope) -> int:
    """Number of the `schedule` call that the child in this scope belongs to."""
    number: int = scope[scope[1].outputs[NUMBER]]
    return number


def _lazy(evaluate: Callable[[Scope], Any], scope: Scope) -> Callable[[], Any]:
    return lambda: evaluate(scope)
