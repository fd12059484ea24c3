"""Code inside a workflow: scripts of any expression language, and Python functions of this process."""

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
from holdfast.execution.journal import kept
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
    """Runs a script in a sandbox: it reads and sets variables, chooses outcomes, and its value is the result."""

    script: str = ""
    language: str = "python"
    outcomes: list[str] | None = None
    """The outcomes that the script may choose."""
    result: Any = output()

    @classmethod
    def compile(cls, builder: NodeBuilder) -> Op:
        index, done, put = builder.node.index, builder.done, builder.output("result")
        run = _script(builder)

        def op(live: LiveInstance, owner: Activation, scope: Scope) -> None:
            n = live.sequence = live.sequence + 1
            found = run(scope)
            if found.value is not None:
                put(live, scope, found.value)
            data = {"result": kept(found.value), "outcomes": found.outcomes}
            live.journal.append((COMPLETED, index, n, live.now(), data))
            done(live, owner, scope, found.outcomes)

        return op


def _script(builder: NodeBuilder) -> Callable[[Scope], ScriptResult]:
    """Compiled with the plan where the text is known; a text that is itself computed is compiled when it runs."""
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

    def run(scope: Scope) -> ScriptResult:
        text = str(text_of(scope) or "")
        return evaluator.compile_script(text, names).run(scope) if evaluator is not None and text.strip() else nothing

    return run


class Inline(Activity, pure=True, category="Scripting", icon="code"):
    """Calls a Python function of this process with the context: for code and tests. It stands in JSON by its name only.

    The function must be a module's own: `Inline(say_hello)`. It is pure: it ends without waiting, and may run twice.
    """

    function: str
    result: Any = output()

    def __init__(self, function: Callable[[Context], Any], **given: Any) -> None:
        name = public_name(function)
        other = _FUNCTIONS.setdefault(name, function)
        if other is not function and "<lambda>" in name and _code_of(other) is not _code_of(function):
            raise ActivityDeclarationError(
                f"Two functions are called '{name}', and a definition holds only the name. Give them names with def."
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
                f"No Inline activity of this process calls '{name}'.",
                "Import the module that builds the workflow first, or write the function as an @activity.",
            )
            return builder.leaf(lambda live, scope: None)
        call, outputs = function, {"result": builder.output("result")}

        def op(live: LiveInstance, owner: Activation, scope: Scope) -> None:
            activation = live.activate(node, owner, scope)
            context = RecordingContext(
                facts_of(live, activation), live.services, {}, read_variable=variable_reader(activation)
            )
            found = call(context)
            if iscoroutine(found):
                found = finish_at_once(found, "Inline")
            if found is not None:
                context.set_output("result", values.copy(found))
            if context.record.bookmarks or context.record.children:
                raise ActivityDeclarationError("An Inline function cannot wait: write an Activity class for that.")
            apply_plain(live, activation, context.record, outputs)
            live.complete(activation, context.record.outcomes)

        return op


def _code_of(function: Callable[..., Any]) -> Any:
    return getattr(function, "__code__", function)


_FUNCTIONS: dict[str, Callable[[Context], Any]] = {}
"""Functions that Inline objects of this process have named: data never imports anything."""


ACTIVITIES = (RunScript, Inline)
