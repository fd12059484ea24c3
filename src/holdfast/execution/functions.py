"""Activities written as functions.

Pure functions without a context take a fast path: evaluate the arguments, call the function, bind the result. An
activation is created only if the call fails.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import Parameter, iscoroutine, signature
from typing import TYPE_CHECKING, Any

from holdfast.errors import PureActivityWaited, WrongResult
from holdfast.execution.activation import Activation
from holdfast.execution.builder import NodeBuilder, SetOutput
from holdfast.execution.context import RecordingContext
from holdfast.execution.interruption import continue_interrupted
from holdfast.execution.invoke import (
    EffectCall,
    apply_plain,
    evaluate_all,
    evaluators,
    facts_of,
    finish_at_once,
)
from holdfast.execution.journal import COMPLETED, TINY, captured
from holdfast.execution.plan import Op
from holdfast.execution.record import Record
from holdfast.execution.return_types import name_of, return_check
from holdfast.execution.typed_values import AS_THEY_ARE
from holdfast.model import values
from holdfast.model.descriptor import Kind
from holdfast.model.scope import Scope

if TYPE_CHECKING:
    from holdfast.execution.live import LiveInstance


def function_operation(builder: NodeBuilder, activity: Any) -> Op:
    """`activity` has `function`, `is_async`, `context_name` (None if it takes no context), `mode` and `returns` (the
    annotation of its result)."""
    if builder.node.descriptor.kind is Kind.EFFECT:
        return _effect(builder, activity)
    if activity.context_name is None:
        return _pure(builder, activity)
    return _pure_with_context(builder, activity)


def _pure(builder: NodeBuilder, activity: Any) -> Op:
    function: Callable[..., Any] = activity.function
    inputs = evaluators(builder)
    put = builder.output("result", typed=False)
    plan, slot = builder.compiler.plan, _slot_here(builder, "result")
    at_once, check = _result_check(builder, activity)
    index, type_name = builder.node.index, builder.definition.type
    is_async: bool = activity.is_async
    scalars = values.SCALARS

    def finish(live: LiveInstance, scope: Scope, n: int, result: Any) -> None:
        if is_async:
            # `finish_at_once` inlined: the call would be a tenth of the cost of such an activity.
            try:
                result.send(None)
            except StopIteration as end:
                result = end.value
            else:
                result.close()
                raise PureActivityWaited(type_name)
        if check is not None and result.__class__ not in at_once:
            check(result)
        if slot and result.__class__ in scalars and not plan.records_outputs:
            scope[slot] = result
        else:
            put(live, scope, values.copy(result))
        data = {"result": result if result.__class__ in TINY else captured(result)}
        live.journal.append((COMPLETED, index, n, live.now(), data))

    def step(live: LiveInstance, scope: Scope) -> None:
        n = live.sequence = live.sequence + 1
        finish(live, scope, n, function(**evaluate_all(inputs, scope)))

    if len(inputs) != 1 or inputs[0][2] not in AS_THEY_ARE or not _takes_position(function):
        return builder.at_once(step)
    name, evaluate, expected = inputs[0][0], inputs[0][1], AS_THEY_ARE[inputs[0][2]]

    def step_of_one(live: LiveInstance, scope: Scope) -> None:
        """Variant for one input of a plain type: no argument dict, and no copy of the value."""
        n = live.sequence = live.sequence + 1
        value = evaluate(scope)
        if value.__class__ not in expected:
            value = evaluate_all([(name, _always(value), inputs[0][2])], scope)[name]
        finish(live, scope, n, function(value))

    return builder.at_once(step_of_one)


def _always(value: Any) -> Callable[[Scope], Any]:
    return lambda scope: value


def _slot_here(builder: NodeBuilder, output: str) -> int:
    """Slot of the output in the nearest scope; 0 if it is bound further out, not at all, or to a variable with a type."""
    target = builder.definition.outputs.get(output)
    hops, slot = (builder.node.names.target(target) if target else None) or (0, 0)
    return 0 if hops or not slot or slot in builder.node.names.shapes[0].checks else slot


def _result_check(builder: NodeBuilder, activity: Any) -> tuple[frozenset[type], Callable[[Any], None] | None]:
    """Classes of valid results, and a function that raises `WrongResult` for others; None accepts every result."""
    annotation = activity.returns
    found = return_check(annotation)
    if found is None:
        return frozenset(), None
    at_once, invalid = found
    type_name, expected = builder.definition.type, name_of(annotation)

    def check(result: Any) -> None:
        got = invalid(result)
        if got is not None:
            raise WrongResult(type_name, expected, got)

    return at_once, check


def _put_result(builder: NodeBuilder, activity: Any) -> SetOutput:
    put = builder.output("result", typed=False)
    at_once, check = _result_check(builder, activity)
    if check is None:
        return put

    def put_checked(live: LiveInstance, scope: Scope, result: Any) -> None:
        if result.__class__ not in at_once:
            check(result)
        put(live, scope, result)

    return put_checked


def _takes_position(function: Callable[..., Any]) -> bool:
    """Whether the only parameter can be passed by position."""
    parameters = list(signature(function).parameters.values())
    return len(parameters) == 1 and parameters[0].kind is Parameter.POSITIONAL_OR_KEYWORD


def _call(activity: Any) -> Callable[[Mapping[str, Any], RecordingContext, str, Any], Any]:
    function, context_name = activity.function, activity.context_name

    def run(inputs: Mapping[str, Any], context: RecordingContext, method: str, argument: Any) -> Any:
        result = function(**inputs) if context_name is None else function(**{**inputs, context_name: context})
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
    outputs = {"result": _put_result(builder, activity)}
    run = _call(activity)

    def op(live: LiveInstance, owner: Activation, scope: Scope) -> None:
        given = evaluate_all(inputs, scope)
        activation = live.activate(node, owner, scope)
        context = RecordingContext(
            facts_of(live, activation),
            live.services,
            {},
            properties=live.properties,
            transient=live.transient_properties(),
        )
        result = run(given, context, "execute", None)
        if iscoroutine(result):
            finish_at_once(result, node.definition.type)
        _apply(live, activation, context.record, outputs)

    return op


def _effect(builder: NodeBuilder, activity: Any) -> Op:
    node = builder.node
    inputs = evaluators(builder)
    outputs = {"result": _put_result(builder, activity)}

    def op(live: LiveInstance, owner: Activation, scope: Scope) -> None:
        given = evaluate_all(inputs, scope)
        if live.interrupted and continue_interrupted(live, node, owner, (scope, scope), {"inputs": given}):
            return
        activation = live.activate(node, owner, scope)
        activation.data = {"inputs": given}
        live.record_effect(activation, given)

    def result(live: LiveInstance, activation: Activation, record: Record) -> None:
        _apply(live, activation, record, outputs)

    node.hooks.result = result
    bare = activity.context_name is None and activity.mode in ("async", "thread")
    node.effect = EffectCall(run=_call(activity), mode=activity.mode, function=activity.function, bare=bare)
    return op


def _apply(live: LiveInstance, activation: Activation, record: Record, outputs: Mapping[str, Any]) -> None:
    apply_plain(live, activation, record, outputs)
    live.complete(activation, record.outcomes)
