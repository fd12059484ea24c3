"""Code inside a workflow: scripts in any expression language, and Python functions of this process."""

from __future__ import annotations

from collections.abc import Callable
from inspect import iscoroutine
from typing import Any

from holdfast.authoring.activity import Activity
from holdfast.authoring.fields import output
from holdfast.errors import ActivityDeclarationError
from holdfast.execution.activation import Activation
from holdfast.execution.builder import NodeBuilder
from holdfast.execution.context import RecordingContext
from holdfast.execution.invoke import apply_plain, facts_of, finish_at_once, variable_reader
from holdfast.execution.journal import captured
from holdfast.execution.live import LiveInstance
from holdfast.execution.plan import Op
from holdfast.model import values
from holdfast.model.definition import Expression
from holdfast.model.instance import JournalEvent
from holdfast.model.module_names import public_name
from holdfast.model.scope import Scope
from holdfast.ports import Context, ScriptResult

COMPLETED = JournalEvent.COMPLETED


class RunScript(Activity, pure=True, dynamic_outcomes=True, category="Scripting", icon="braces"):
    """Runs a script in a sandbox. The script can read and set variables and choose outcomes; its value is the result."""

    script: str = ""
    """Source text of the script."""
    language: str = "python"
    """Expression language of the script."""
    outcomes: list[str] | None = None
    """Outcomes that the script can choose."""
    result: Any = output()
    """Value of the script."""

    @classmethod
    def compile(cls, builder: NodeBuilder) -> Op:
        index, done, put = builder.node.index, builder.done, builder.output("result")
        run = _script(builder)

        def op(live: LiveInstance, owner: Activation, scope: Scope) -> None:
            n = live.sequence = live.sequence + 1
            found = run(scope)
            if found.value is not None:
                put(live, scope, found.value)
            data = {"result": captured(found.value), "outcomes": found.outcomes}
            live.journal.append((COMPLETED, index, n, live.now(), data))
            done(live, owner, scope, found.outcomes)

        return op


def _script(builder: NodeBuilder) -> Callable[[Scope], ScriptResult]:
    """Compile a literal script together with the plan.

    A script text that is itself an expression is compiled at run time.
    """
    language = str(builder.literal("language", "python"))
    source = builder.definition.inputs.get("script", "")
    nothing = ScriptResult()
    if not isinstance(source, Expression) or source.language == "literal":
        text = str(source.source if isinstance(source, Expression) else source or "")
        script = builder.script(language, text, "script") if text.strip() else None
        return script.run if script is not None else lambda scope: nothing
    text_of = builder.input("script")
    evaluator, names = builder.compiler.environment.languages.get(language), builder.node.names
    if evaluator is None:
        builder.script(language, "", "script")
    builder.compiler.plan.waits = True

    def run(scope: Scope) -> ScriptResult:
        text = str(text_of(scope) or "")
        return evaluator.compile_script(text, names).run(scope) if evaluator is not None and text.strip() else nothing

    return run


class Inline(Activity, pure=True, category="Scripting", icon="code"):
    """Calls a Python function of this process with the activity context. For workflows in code and for tests.

    Definitions store only the function's name, so the function must be at module level: `Inline(say_hello)`. The
    function must be pure: it cannot wait, and a retried segment calls it again.
    """

    function: str
    """Public name of the function."""
    result: Any = output()
    """Return value of the function."""

    def __init__(self, function: Callable[[Context], Any], **given: Any) -> None:
        name = public_name(function)
        other = _FUNCTIONS.setdefault(name, function)
        if other is not function and "<lambda>" in name and _code_of(other) is not _code_of(function):
            raise ActivityDeclarationError(
                f"Two functions have the name '{name}', and a definition stores only the name. Define them with def."
            )
        _FUNCTIONS[name] = function
        super().__init__(**({"function": name} | given))

    @classmethod
    def compile(cls, builder: NodeBuilder) -> Op:
        node = builder.node
        name = str(builder.literal("function"))
        function = _FUNCTIONS.get(name)
        if function is None:
            builder.problem(
                "inputs/function",
                "unknown-function",
                f"No Inline activity in this process uses the function '{name}'.",
                "Import the module that builds the workflow first, or write the function as an @activity.",
            )
            return builder.leaf(lambda live, scope: None)
        call, outputs = function, {"result": builder.output("result")}

        def op(live: LiveInstance, owner: Activation, scope: Scope) -> None:
            activation = live.activate(node, owner, scope)
            context = RecordingContext(
                facts_of(live, activation),
                live.services,
                {},
                read_variable=variable_reader(activation),
                properties=live.properties,
                transient=live.transient_properties(),
            )
            found = call(context)
            if iscoroutine(found):
                found = finish_at_once(found, "Inline")
            if found is not None:
                context.set_output("result", values.copy(found))
            if context.record.bookmarks or context.record.children:
                raise ActivityDeclarationError("An Inline function cannot wait. Write an Activity class instead.")
            apply_plain(live, activation, context.record, outputs)
            live.complete(activation, context.record.outcomes)

        return op


def _code_of(function: Callable[..., Any]) -> Any:
    return getattr(function, "__code__", function)


_FUNCTIONS: dict[str, Callable[[Context], Any]] = {}
"""Functions by name, registered by the Inline objects of this process. A definition never causes an import."""


ACTIVITIES = (RunScript, Inline)
