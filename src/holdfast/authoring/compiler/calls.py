"""Awaitable calls: activities, other workflows, and primitives (`sleep`, `wait_for`, `gather` …)."""

from __future__ import annotations

import ast
import asyncio
from collections.abc import Callable
from typing import Any, NoReturn

from holdfast.authoring import primitives
from holdfast.authoring.compiler.arguments import bind_arguments, bind_workflow, primitive_arguments
from holdfast.authoring.compiler.blocks import has_await, located
from holdfast.authoring.compiler.drafts import Draft
from holdfast.authoring.compiler.names import MISSING
from holdfast.authoring.compiler.passes import Argument, Out
from holdfast.authoring.compiler.unit import Unit
from holdfast.authoring.function import FunctionActivity
from holdfast.authoring.primitives import Finished
from holdfast.model.definition import Expression
from holdfast.model.descriptor import Kind
from holdfast.model.forms import form_of
from holdfast.model.module_names import stored_name
from holdfast.model.policy import ActivityOptions
from holdfast.model.values.registry import default_name, is_registrable

_PLAIN = (str, int, float, bool, type(None))

PRIMITIVE, WORKFLOW = "__holdfast_word__", "__holdfast_workflow__"
"""Attributes that mark primitives and workflow functions."""

_SLEEP = "__holdfast_sleep"
"""Alias of `sleep` that `poll` awaits between two calls."""

_DURABLE = (
    (asyncio.sleep, "`await sleep(timedelta(…))` of holdfast, which survives a restart."),
    (asyncio.gather, "`await gather(a(), b())` of holdfast."),
    (
        asyncio.wait_for,
        "`charge.options(timeout=timedelta(…))(…)`, or for events `wait_for(…, timeout=…)` of holdfast.",
    ),
)
"""asyncio functions and their durable replacements."""


class Calls:
    def __init__(self, unit: Unit, compile_nested: Callable[[Any, Unit, str], Draft]) -> None:
        self.unit = unit
        self.compile_nested = compile_nested
        self.taken: set[ast.Call] = set()
        """Calls that are awaited, directly or by a primitive."""
        self.words: dict[str, Callable[[ast.Call, Out], ast.expr]] = {
            "sleep": self._sleep,
            "wait_for": self._wait_for,
            "gather": self._gather,
            "first": self._first,
            "run_child": self._run_child,
            "ask": self._ask,
            "poll": self._poll,
            "compensate": self._compensate,
        }

    # -- await ---------------------------------------------------------------------------------------------------------

    def lower(self, node: ast.Await, out: Out) -> ast.expr:
        call = self._call_of(node)
        word = self.primitive_of(call)
        if word is not None:
            lowering = self.words.get(word)
            if lowering is None:
                self.unit.refuse(
                    "await-word", call, f"`{word}` cannot be awaited.", "See docs/plain-python.md for the primitives."
                )
            return lowering(call, out)
        draft, arguments = self.target(call)
        self._lower_arguments(draft, arguments, call, out)
        return self._result(draft, node, out)

    def _call_of(self, node: ast.Await) -> ast.Call:
        if not isinstance(node.value, ast.Call):
            self.unit.refuse(
                "await-value",
                node,
                "Only a call can be awaited: `await activity(…)`.",
                "Await the call itself; for concurrent calls use `await gather(a(), b())`.",
            )
        return node.value

    def primitive_of(self, call: ast.Call) -> str | None:
        if isinstance(call.func, ast.Name) and call.func.id == _SLEEP:
            return "sleep"
        found: str | None = getattr(self.unit.module_names.resolve(call.func), PRIMITIVE, None)
        if found is not None:
            self.taken.add(call)
        return found

    def refuse_forgotten(self, calls: list[ast.Call]) -> None:
        """Refuse activities that are called without await: they would never run."""
        for call in calls:
            found = self.unit.module_names.resolve(call.func)
            durable = isinstance(found, FunctionActivity) and (
                found.activity_type.is_async or found.activity_type.descriptor.kind is Kind.EFFECT
            )
            if call not in self.taken and (
                durable or getattr(found, WORKFLOW, False) or getattr(found, PRIMITIVE, None)
            ):
                name = self.unit.label(call.func)
                self.unit.refuse(
                    "forgotten-await", call, f"`{name}(…)` is not awaited: it would never run.", f"`await {name}(…)`."
                )

    def _result(self, draft: Draft, at: ast.AST, out: Out) -> ast.expr:
        name = self.unit.temporary()
        draft.outputs["result"] = name
        out.append(draft)
        return self.unit.load(name, at)

    # -- activities and workflows --------------------------------------------------------------------------------------

    def target(self, call: ast.Call) -> tuple[Draft, list[Argument]]:
        """The activity that a call refers to, and its arguments before lowering."""
        unit, function, options = self.unit, call.func, ActivityOptions()
        if (
            isinstance(function, ast.Call)
            and isinstance(function.func, ast.Attribute)
            and function.func.attr == "options"
        ):
            options = self._options(function)
            function = function.func.value
        found = unit.module_names.resolve(function)
        self.taken.add(call)
        title = unit.label(call)
        base = ast.unparse(function).rpartition(".")[2]
        if isinstance(found, FunctionActivity):
            descriptor = found.activity_type.descriptor
            if not found.activity_type.is_async:
                unit.refuse(
                    "await-sync",
                    call,
                    f"`{base}` is a plain function, so a direct call cannot be awaited.",
                    f"Write `async def {base}` and use `await asyncio.to_thread(…)` for blocking code.",
                )
            unit.activity_types[descriptor.type] = found.activity_type
            draft = unit.draft(descriptor.type, base, call, title, version=descriptor.version, options=options)
            draft.result_type = next((item.type for item in descriptor.outputs), "any")
            return draft, bind_arguments(unit, call, descriptor)
        if getattr(found, WORKFLOW, False):
            draft = self.compile_nested(found, unit, base)
            draft.metadata.update(line=unit.place.line_of(call), title=title)
            return draft, bind_workflow(unit, call, found)
        return self._refuse_target(call, function, found)

    def _refuse_target(self, call: ast.Call, function: ast.expr, found: Any) -> NoReturn:
        name = self.unit.label(function)
        if found is MISSING:
            self.unit.refuse(
                "await-unknown",
                call,
                f"`{name}` is not a known activity.",
                "Await an @activity or @workflow of a module by its name.",
            )
        self.unit.refuse(
            "await-not-activity",
            call,
            f"`{name}` is not an activity.",
            next(
                (remedy for known, remedy in _DURABLE if known is found),
                "Decorate it with @activity, or call it inside one.",
            ),
        )

    def _options(self, call: ast.Call) -> ActivityOptions:
        """`charge.options(retry=…)(order)`: evaluated at import."""
        try:
            given = {
                str(item.arg): eval(  # noqa: S307 # an expression of the module, evaluated as its decorators are
                    compile(ast.Expression(item.value), self.unit.place.file, "eval"), self.unit.source.globals
                )
                for item in call.keywords
            }
            return ActivityOptions(**given)
        except Exception as error:  # noqa: BLE001 # user code
            self.unit.refuse(
                "options", call, f"The options cannot be computed: {error}.", "Use constants of the module."
            )

    def _lower_arguments(self, draft: Draft, arguments: list[Argument], call: ast.Call, out: Out) -> None:
        unit = self.unit
        values = unit.expressions.lower_all([item.value for item in arguments], out)
        if draft.type == "Function":
            unit.put_value(draft, "arguments", located(_dict([item.name for item in arguments], values), call))
            return
        moving = [value for value in values if not unit.expressions.is_stable(value)]
        in_order = [item.position for item in arguments] == sorted(item.position for item in arguments)
        for item, value in zip(arguments, values, strict=True):
            on_line = getattr(value, "lineno", 0) == getattr(value, "end_lineno", 0) == call.lineno
            stays = unit.expressions.is_stable(value) or (on_line and (len(moving) < 2 or in_order))
            draft.inputs[item.name] = self.input_of(value if stays else unit.expressions.spill(value, out))

    def input_of(self, value: ast.expr) -> Any:
        """A literal, or an expression of the function."""
        if isinstance(value, ast.Constant) and isinstance(value.value, _PLAIN):
            return value.value
        return self.unit.code([located(ast.Expr(value), value)])[0]

    # -- primitives ----------------------------------------------------------------------------------------------------

    def _primitive(self, type_: str, base: str, call: ast.Call) -> Draft:
        return self.unit.draft(type_, base, call, self.unit.label(call))

    def _sleep(self, call: ast.Call, out: Out) -> ast.expr:
        given = primitive_arguments(self.unit, call, ("until",))
        (value,) = self.unit.expressions.lower_all([given["until"]], out)
        draft = self._primitive("Sleep", "sleep", call)
        draft.inputs["until"] = self.input_of(value)
        out.append(draft)
        return located(ast.Constant(None), call)  # type: ignore[no-any-return]  # located() keeps the type

    def _wait_for(self, call: ast.Call, out: Out) -> ast.expr:
        draft, given = self.wait_draft(call)
        names = [name for name in given if name != "where"]
        values = self.unit.expressions.lower_all([given[name] for name in names], out)
        for name, value in zip(names, values, strict=True):
            if name == "default":
                kept = value if self.unit.expressions.is_stable(value) else self.unit.expressions.spill(value, out)
                self.unit.put_value(draft, "default", kept)
            else:
                draft.inputs[name] = self.input_of(value)
        if "where" in given:
            self.unit.put_value(draft, "where", given["where"])
        return self._result(draft, call, out)

    def wait_draft(self, call: ast.Call) -> tuple[Draft, dict[str, Any]]:
        unit = self.unit
        given = primitive_arguments(unit, call, ("event", "key", "timeout", "default", "where", "broadcast"))
        event = given.pop("event")
        found = unit.module_names.resolve(event)
        draft = self._primitive("WaitFor", "wait_for", call)
        if isinstance(found, type):
            self._check_default(found, given.get("default"))
            draft.inputs.update(event_name=found.__name__)
            if is_registrable(found):
                draft.inputs["of"] = default_name(found)
                unit.value_types[found] = None
        else:
            given = {"event_name": event, **given}
        if has_await(given.get("where")):
            unit.refuse("await-in-where", given["where"], "`await` in the test of an event.", "Test it after the wait.")
        return draft, given

    def _check_default(self, event: type, default: Any) -> None:
        """Check that the default has the event's type. A type checker reports this only where the result is used."""
        made: Any = self.unit.module_names.resolve(default.func) if isinstance(default, ast.Call) else MISSING
        if isinstance(made, type) and not issubclass(made, event):
            kind = made.__name__
        elif isinstance(default, ast.Constant) and default.value is not None and not _fits(default.value, event):
            kind = type(default.value).__name__
        else:
            return
        self.unit.refuse(
            "wait-default",
            default,
            f"The default has type {kind}, but the event has type {event.__name__}.",
            f"Use a {event.__name__} or None.",
        )

    def _gather(self, call: ast.Call, out: Out) -> ast.expr:
        from holdfast.authoring.compiler.parallel import branches_of

        if call.keywords:
            self.unit.refuse(
                "gather-options", call, "gather takes only calls.", "For a limit: `async with parallel(limit=…)`."
            )
        draft = self._primitive("Gather", "gather", call)
        branches_of(self.unit, draft, call.args, out)
        return self._result(draft, call, out)

    def _first(self, call: ast.Call, out: Out) -> ast.expr:
        from holdfast.authoring.compiler.parallel import branches_of

        draft = self._primitive("First", "first", call)
        branches_of(self.unit, draft, call.args, out)
        return self._result(draft, call, out)

    def _run_child(self, call: ast.Call, out: Out) -> ast.expr:
        draft, arguments = self.child_draft(call)
        values = self.unit.expressions.lower_all([item.value for item in arguments], out)
        given = _dict([item.name for item in arguments], values)
        draft.inputs["input"] = self.unit.code([located(ast.Expr(given), call)])[0]
        return self._result(draft, call, out)

    def child_draft(self, call: ast.Call) -> tuple[Draft, list[Argument]]:
        """The start of a child, and its inputs before lowering."""
        unit = self.unit
        found: Any = unit.module_names.resolve(call.args[0]) if call.args else MISSING
        if not getattr(found, WORKFLOW, False):
            # The name may be defined later in the module, or may be this function itself.
            unit.refuse(
                "await-unknown" if call.args and found is MISSING else "run-child",
                call,
                "run_child starts a workflow function.",
                "`await run_child(ship, order_id)`.",
            )
        inner = located(ast.Call(call.args[0], call.args[1:], call.keywords), call)
        arguments = bind_workflow(unit, inner, found)
        unit.children[found.id] = found
        draft = self._primitive("RunChild", "run_child", call)
        draft.inputs = {"workflow": found.id, "wait": True}
        return draft, arguments

    def _ask(self, call: ast.Call, out: Out) -> ast.expr:
        draft, given, form = self.ask_draft(call)
        values = self.unit.expressions.lower_all(list(given.values()), out)
        draft.inputs.update({name: self.input_of(value) for name, value in zip(given, values, strict=True)})
        result = self._result(draft, call, out)
        return result if form is None else self.helper_call("filled_in", [result, form], call)

    def ask_draft(self, call: ast.Call) -> tuple[Draft, dict[str, ast.expr], ast.expr | None]:
        """The task, its inputs before lowering, and the name of the class to convert the answer to."""
        unit = self.unit
        given = primitive_arguments(unit, call, ("who", "form", "about", "title", "due"))
        named = given.pop("form", None)
        draft = self._primitive("HumanTask", "ask", call)
        if named is not None:
            form: Any = unit.module_names.resolve(named)
            if not is_registrable(form):
                unit.refuse(
                    "ask-form", named, "A form must be a data class.", "Use a dataclass or a model of a module."
                )
            unit.value_types[form] = None
            draft.inputs["form"] = Expression(language="literal", source=form_of(form))
        return draft, {"assignee" if name == "who" else name: value for name, value in given.items()}, named

    def _poll(self, call: ast.Call, out: Out) -> ast.expr:
        """Lower `poll(check(x), until=…, every=…)` to a loop of the call, the test and a sleep."""
        unit = self.unit
        given = primitive_arguments(unit, call, ("call", "until", "every"))
        name = unit.temporary()
        test = located(ast.Call(given["until"], [ast.Name(name, ast.Load())], []), given["until"])
        pause = located(ast.Await(ast.Call(ast.Name(_SLEEP, ast.Load()), [given["every"]], [])), call)
        loop = ast.While(
            ast.Constant(True),
            [
                ast.Assign([ast.Name(name, ast.Store())], ast.Await(given["call"])),
                ast.If(test, [ast.Break()], []),
                ast.Expr(pause),
            ],
            [],
        )
        out.extend(unit.statements.lower_body([located(loop, call)]))
        return unit.load(name, call)

    def _compensate(self, call: ast.Call, out: Out) -> ast.expr:
        """With a call: register it as a compensation. Without: run all compensations, last one first."""
        from holdfast.authoring.compiler.parallel import branches_of

        if call.keywords or len(call.args) > 1:
            self.unit.refuse(
                "compensate", call, "compensate takes one call or none.", "`await compensate(refund(receipt))`."
            )
        draft = self._primitive("Undo" if call.args else "Compensate", "compensate", call)
        if call.args:
            branches_of(self.unit, draft, call.args, out)
            draft.inputs.pop("results")
        out.append(draft)
        return located(ast.Constant(None), call)  # type: ignore[no-any-return]  # located() keeps the type

    def helper_call(self, name: str, arguments: list[ast.expr], at: ast.AST) -> ast.expr:
        """Call of a helper function that the stored code refers to."""
        alias = f"__holdfast_{name}"
        self.unit.helpers[alias] = {"of": f"{stored_name(primitives.__name__)}:{name}"}
        if name == Finished.__name__:
            self.unit.value_types[Finished] = None
        found: ast.expr = located(ast.Call(ast.Name(alias, ast.Load()), arguments, []), at)
        return found


def _dict(names: list[str], values: list[ast.expr]) -> ast.Dict:
    keys: list[ast.expr | None] = [ast.Constant(name) for name in names]
    return ast.Dict(keys, values)


__all__ = ["PRIMITIVE", "WORKFLOW", "Calls"]


def _fits(value: Any, event: type) -> bool:
    return isinstance(value, event) or (event in (float, complex) and isinstance(value, int | float))
