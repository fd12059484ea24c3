"""Activities written as functions: the shortest way from evaluated inputs to a result.

Pure ones with no context take the fast path: arguments evaluated in place, the function called, the result bound. No
activation is made unless one fails.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import iscoroutine
from typing import TYPE_CHECKING, Any

from holdfast.execution.activation import Activation
from holdfast.execution.builder import NodeBuilder
from holdfast.execution.context import RecordingContext
from holdfast.execution.invoke import (
    EffectCall,
    apply_plain,
    evaluate_all,
    evaluators,
    facts_of,
    finish_at_once,
)
from holdfast.execution.journal import TINY, kept
from holdfast.execution.plan import Op
from holdfast.execution.record import Record
from holdfast.model import values
from holdfast.model.descriptor import Kind
from holdfast.model.instance import JournalEvent
from holdfast.model.scope import Scope

if TYPE_CHECKING:
    from holdfast.execution.live import LiveInstance

COMPLETED = JournalEvent.COMPLETED


def function_operation(builder: NodeBuilder, activity: Any) -> Op:
    """`activity` has `function`, `is_async`, `context_name` (None if it takes no context), `mode`."""
    if builder.node.descriptor.kind is Kind.EFFECT:
        return _effect(builder, activity)
    if activity.context_name is None:
        return _pure(builder, activity)
    return _pure_with_context(builder, activity)


def _pure(builder: NodeBuilder, activity: Any) -> Op:
    function: Callable[..., Any] = activity.function
    inputs = evaluators(builder)
    put = builder.output("result")
    index, done, type_name = builder.node.index, builder.done, builder.definition.type
    only = inputs[0] if len(inputs) == 1 else None
    is_async: bool = activity.is_async
    scalars = values.SCALARS

    def arguments(scope: Scope) -> dict[str, Any]:
        return evaluate_all(inputs, scope)

    def finish(live: LiveInstance, owner: Activation, scope: Scope, n: int, result: Any) -> None:
        put(live, scope, result)
        live.journal.append(
            (COMPLETED, index, n, live.now(), {"result": result if result.__class__ in TINY else kept(result)})
        )
        done(live, owner, scope, None)

    def op(live: LiveInstance, owner: Activation, scope: Scope) -> None:
        n = live.sequence = live.sequence + 1
        result = function(**arguments(scope))
        if is_async:
            result = finish_at_once(result, type_name)
        finish(live, owner, scope, n, result if result.__class__ in scalars else values.copy(result))

    if only is None or only[2] not in _PLAIN:
        return op

    name, evaluate, expected = only[0], only[1], _PLAIN[only[2]]

    def op_of_one(live: LiveInstance, owner: Activation, scope: Scope) -> None:
        n = live.sequence = live.sequence + 1
        value = evaluate(scope)
        result = function(**({name: value} if value.__class__ in expected else arguments(scope)))
        if is_async:
            result = finish_at_once(result, type_name)
        finish(live, owner, scope, n, result if result.__class__ in scalars else values.copy(result))

    return op_of_one


_PLAIN: dict[str, frozenset[type]] = {
    "any": values.SCALARS,
    "integer": frozenset({int}),
    "number": frozenset({int, float}),
    "string": frozenset({str}),
    "boolean": frozenset({bool}),
}
"""Types whose values need neither conversion nor a copy."""


def _call(activity: Any) -> Callable[[Mapping[str, Any], RecordingContext, str, Any], Any]:
    def run(inputs: Mapping[str, Any], context: RecordingContext, method: str, argument: Any) -> Any:
        given = dict(inputs)
        if activity.context_name is not None:
            given[activity.context_name] = context
        result = activity.function(**given)
        if iscoroutine(result):
            return _awaited(result, context)
        context.set_output("result", values.copy(result))
        return None

    return run


async def _awaited(coroutine: Any, context: RecordingContext) -> None:
    context.set_output("result", values.copy(await coroutine))


def _pure_with_context(builder: NodeBuilder, activity: Any) -> Op:
    node = builder.node
    inputs = evaluators(builder)
    outputs = {"result": builder.output("result")}
    run = _call(activity)

    def op(live: LiveInstance, owner: Activation, scope: Scope) -> None:
        given = evaluate_all(inputs, scope)
        activation = live.activate(node, owner, scope)
        context = RecordingContext(facts_of(live, activation), live.services, {})
        result = run(given, context, "execute", None)
        if iscoroutine(result):
            finish_at_once(result, node.definition.type)
        _apply(live, activation, context.record, outputs)

    return op


def _effect(builder: NodeBuilder, activity: Any) -> Op:
    node = builder.node
    inputs = evaluators(builder)
    outputs = {"result": builder.output("result")}

    def op(live: LiveInstance, owner: Activation, scope: Scope) -> None:
        given = evaluate_all(inputs, scope)
        again, live.retrying = live.retrying, None
        activation = live.activate(node, owner, scope)
        if again is not None and again.node is node:
            activation.attempt = again.attempt
        activation.data = {"inputs": given}
        live.record_effect(activation, given)

    def result(live: LiveInstance, activation: Activation, record: Record) -> None:
        _apply(live, activation, record, outputs)

    node.hooks.result = result
    node.effect = EffectCall(run=_call(activity), mode=activity.mode, function=activity.function)
    return op


def _apply(live: LiveInstance, activation: Activation, record: Record, outputs: Mapping[str, Any]) -> None:
    apply_plain(live, activation, record, outputs)
    live.complete(activation, record.outcomes)
