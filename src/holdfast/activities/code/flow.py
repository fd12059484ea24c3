"""Control flow of compiled functions: jumps, the exception being handled, and tracebacks."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from holdfast.errors import DefinitionError
from holdfast.execution.activation import BREAKING, CONTINUING, Activation
from holdfast.execution.builder import NodeBuilder
from holdfast.execution.frames import RESULT, FrameShape, make_function
from holdfast.execution.heap.tracebacks import prepend_entry, without_package_frames
from holdfast.execution.live import LiveInstance
from holdfast.model.definition import Expression
from holdfast.model.scope import Scope, levels

if TYPE_CHECKING:
    from holdfast.activities.code.attempt import AttemptNode

RETURNING = 4
"""Flag next to BREAKING and CONTINUING: the function returns."""

FLAGS = {"return": RETURNING, "break": BREAKING, "continue": CONTINUING}

Block = Callable[[LiveInstance, Activation, Scope], Any]


# -- the frame ---------------------------------------------------------------------------------------------------------


def frame_of(builder: NodeBuilder) -> FrameShape:
    """Frame of the function that contains this node."""
    for shape in builder.node.names.shapes:
        if isinstance(shape, FrameShape):
            return shape
    raise DefinitionError(
        f"'{builder.definition.type}' is only valid inside a Function, which @workflow generates. Do not write it by hand."
    )


def frame_around(scope: Scope) -> FrameShape | None:
    """Frame of the nearest function. Argument frames of branches do not count."""
    shapes = (level[1] for level in levels(scope))
    return next((shape for shape in shapes if isinstance(shape, FrameShape) and shape.function), None)


def slot_of(builder: NodeBuilder, name: str) -> int:
    """Slot of the temporary that an input names."""
    return frame_of(builder).names[str(builder.literal(name))]


def text_of(value: Any, where: str) -> str:
    """Text of a `$code` expression, which only the compiler writes. No other input is ever executed as Python."""
    if isinstance(value, Expression) and value.language == "code":
        return str(value.source)
    raise DefinitionError(f"'{where}' must be '$code', which only @workflow generates. In documents, use RunScript.")


def block_of(builder: NodeBuilder, name: str, *, statements: bool = False) -> Block:
    """Compile an input's text. Inside a handler, the block runs with the handler's exception as the current one."""
    source = text_of(builder.definition.inputs.get(name), f"{builder.node.key}.{name}")
    lines = builder.definition.metadata.get("lines", {}).get(name)
    function = make_function(source, frame_of(builder), lines, statements=statements)
    if not builder.compiler.handlers:
        return lambda live, owner, scope: function(scope)

    def run(live: LiveInstance, owner: Activation, scope: Scope) -> Any:
        error = handled(owner)
        return function(scope) if error is None else call_while_handling(error, function, scope)

    return run


# -- jumps -------------------------------------------------------------------------------------------------------------


def signal(live: LiveInstance, owner: Activation | None, flag: int) -> None:
    """Pass a jump to the ancestors, up to the loop or function that it leaves."""
    while owner is not None:
        stop = owner.node.hooks.stop
        if stop is not None and stop(live, owner, flag):
            return
        owner = owner.owner


def leave(live: LiveInstance, owner: Activation, scope: Scope, completion: tuple[str, Any]) -> None:
    """Start the jump that a block returned: `("return", value)`, `("break", None)` or `("continue", None)`."""
    kind, value = completion
    if kind == "return":
        scope[scope[1].names[RESULT]] = value
    signal(live, owner, FLAGS[kind])


# -- exceptions --------------------------------------------------------------------------------------------------------


def attempt_of(activation: Activation) -> AttemptNode | None:
    from holdfast.activities.code.attempt import AttemptNode

    found = getattr(activation.node.hooks.fault, "__self__", None)
    return found if isinstance(found, AttemptNode) else None


def handled(owner: Activation | None) -> BaseException | None:
    """The exception being handled at this owner, innermost first."""
    while owner is not None:
        attempt = attempt_of(owner)
        error = attempt.handled(owner) if attempt is not None else None
        if error is not None:
            return error
        owner = owner.owner
    return None


def call_while_handling(error: BaseException, function: Callable[[Scope], Any], scope: Scope) -> Any:
    """Call the function as if inside `except`, so that bare `raise`, `__context__` and `sys.exc_info()` work."""
    traceback, context = error.__traceback__, error.__context__
    try:
        raise error
    except BaseException:  # noqa: BLE001 # the one just raised
        error.__traceback__, error.__context__ = traceback, context
        return function(scope)


def complete_traceback(activation: Activation, failed: Activation, error: BaseException) -> None:
    """At the first hook of a function that an exception passes, give it the traceback and context of plain Python."""
    if failed is activation or _nearest(failed) is not activation:
        return
    shape = frame_around(failed.outer)
    traceback = without_package_frames(error.__traceback__)
    node = failed.node.definition
    if attempt_of(failed) is None and node.type != "Code" and shape is not None:
        code = traceback.tb_frame.f_code if traceback is not None else None
        if traceback is not None and code is not None and code.co_filename == shape.file:
            traceback = traceback.tb_next if code.co_name == shape.function else traceback
        traceback = prepend_entry(traceback, shape.file, int(node.metadata.get("line", 1)), shape.function)
    error.__traceback__ = traceback
    if attempt_of(failed) is None:
        _attach(error, handled(failed.owner))


def _nearest(failed: Activation) -> Activation | None:
    above = failed.owner
    while above is not None and not _is_ours(above):
        above = above.owner
    return above


def _is_ours(activation: Activation) -> bool:
    return attempt_of(activation) is not None or activation.node.definition.type == "Function"


def _attach(error: BaseException, context: BaseException | None) -> None:
    """Chain the handled exception as the innermost `__context__`, as Python does for a call inside a handler."""
    if context is None or context is error:
        return
    last, seen = error, {id(error)}
    while last.__context__ is not None and id(last.__context__) not in seen:
        last = last.__context__
        seen.add(id(last))
    if id(context) not in seen:
        last.__context__ = context
