"""What may be awaited: activities, other workflows, and the words (`sleep`, `wait_for`, `gather` …)."""

from __future__ import annotations

import ast
import asyncio
from collections.abc import Callable
from typing import Any, NoReturn

from holdfast.authoring import primitives
from holdfast.authoring.compiler.arguments import Argument, bind_arguments, bind_workflow, word_arguments
from holdfast.authoring.compiler.blocks import has_await, located
from holdfast.authoring.compiler.drafts import Draft
from holdfast.authoring.compiler.names import MISSING
from holdfast.authoring.compiler.unit import Out, Unit
from holdfast.authoring.function import FunctionActivity
from holdfast.authoring.primitives import Finished
from holdfast.model.definition import Expression
from holdfast.model.descriptor import Kind
from holdfast.model.forms import form_of
from holdfast.model.module_names import stored_name
from holdfast.model.policy import ActivityOptions
from holdfast.model.values.registry import default_name, is_registrable

_PLAIN = (str, int, float, bool, type(None))

WORD, WORKFLOW = "__holdfast_word__", "__holdfast_workflow__"
"""Attributes by which words and workflow functions are told."""

_SLEEP = "__holdfast_sleep"
"""What `poll` awaits between two calls."""

_DURABLE = (
    (asyncio.sleep, "`await sleep(timedelta(…))` of holdfast, which survives a restart."),
    (asyncio.gather, "`await gather(a(), b())` of holdfast."),
    (
        asyncio.wait_for,
        "`charge.options(timeout=timedelta(…))(…)`, or for events `wait_for(…, timeout=…)` of holdfast.",
    ),
)
"""What stands here for what people are used to."""


class Calls:
    def __init__(self, unit: Unit, compile_nested: Callable[[Any, Unit, str], Draft]) -> None:
        self.unit = unit
        self.compile_nested = compile_nested
        self.taken: set[ast.Call] = set()
        """Calls that are awaited, one way or another."""
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
        word = self.word_of(call)
        if word is not None:
            lowering = self.words.get(word)
            if lowering is None:
                self.unit.refuse("await-word", call, f"`{word}` cannot be awaited.", "See docs/plain-python.md.")
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
                "Await where you call; for several at once `await gather(a(), b())`.",
            )
        return node.value

    def word_of(self, call: ast.Call) -> str | None:
        if isinstance(call.func, ast.Name) and call.func.id == _SLEEP:
            return "sleep"
        found: str | None = getattr(self.unit.world.resolve(call.func), WORD, None)
        if found is not None:
            self.taken.add(call)
        return found

    def refuse_forgotten(self, calls: list[ast.Call]) -> None:
        """An activity that is called without await would never run."""
        for call in calls:
            found = self.unit.world.resolve(call.func)
            durable = isinstance(found, FunctionActivity) and (
                found.activity_type.is_async or found.activity_type.descriptor.kind is Kind.EFFECT
            )
            if call not in self.taken and (durable or getattr(found, WORKFLOW, False) or getattr(found, WORD, None)):
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
        """The activity that a call stands for, and its arguments, not lowered yet."""
        unit, function, options = self.unit, call.func, ActivityOptions()
        if (
            isinstance(function, ast.Call)
            and isinstance(function.func, ast.Attribute)
            and function.func.attr == "options"
        ):
            options = self._options(function)
            function = function.func.value
        found = unit.world.resolve(function)
        self.taken.add(call)
        title = unit.label(call)
        base = ast.unparse(function).rpartition(".")[2]
        if isinstance(found, FunctionActivity):
            descriptor = found.activity_type.descriptor
            if not found.activity_type.is_async:
                unit.refuse(
                    "await-sync",
                    call,
                    f"`{base}` is a plain function: called directly, it gives no awaitable.",
                    f"Write `async def {base}`, and in it `await asyncio.to_thread(…)` for what blocks.",
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
                f"`{name}` is not an activity that is known here.",
                "Await an @activity or @workflow of a module, by its name.",
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
        """`charge.options(retry=…)(order)`: known when the module is."""
        try:
            given = {
                str(item.arg): eval(  # noqa: S307 # an expression of the module, evaluated as its decorators are
                    compile(ast.Expression(item.value), self.unit.place.file, "eval"), self.unit.source.globals
                )
                for item in call.keywords
            }
            return ActivityOptions(**given)
        except Exception as error:  # noqa: BLE001 # whatever the expression does
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

    # -- words ---------------------------------------------------------------------------------------------------------

    def _word(self, type_: str, base: str, call: ast.Call) -> Draft:
        return self.unit.draft(type_, base, call, self.unit.label(call))

    def _sleep(self, call: ast.Call, out: Out) -> ast.expr:
        given = word_arguments(self.unit, call, ("until",))
        (value,) = self.unit.expressions.lower_all([given["until"]], out)
        draft = self._word("Sleep", "sleep", call)
        draft.inputs["until"] = self.input_of(value)
        out.append(draft)
        return located(ast.Constant(None), call)  # type: ignore[no-any-return]  # a node stays what it is

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
        given = word_arguments(unit, call, ("event", "key", "timeout", "default", "where", "broadcast"))
        event = given.pop("event")
        found = unit.world.resolve(event)
        draft = self._word("WaitFor", "wait_for", call)
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
        """What it gives after the timeout must be what it gives else: a checker sees that only where the result is used."""
        made: Any = self.unit.world.resolve(default.func) if isinstance(default, ast.Call) else MISSING
        if isinstance(made, type) and not issubclass(made, event):
            kind = made.__name__
        elif isinstance(default, ast.Constant) and default.value is not None and not _fits(default.value, event):
            kind = type(default.value).__name__
        else:
            return
        self.unit.refuse(
            "wait-default",
            default,
            f"The default is of type {kind}, and the event of type {event.__name__}.",
            f"Give a {event.__name__}, or None.",
        )

    def _gather(self, call: ast.Call, out: Out) -> ast.expr:
        from holdfast.authoring.compiler.parallel import branches_of

        if call.keywords:
            self.unit.refuse(
                "gather-options", call, "gather takes calls only.", "For a limit: `async with parallel(limit=…)`."
            )
        draft = self._word("Gather", "gather", call)
        branches_of(self.unit, draft, call.args, out)
        return self._result(draft, call, out)

    def _first(self, call: ast.Call, out: Out) -> ast.expr:
        from holdfast.authoring.compiler.parallel import branches_of

        draft = self._word("First", "first", call)
        branches_of(self.unit, draft, call.args, out)
        return self._result(draft, call, out)

    def _run_child(self, call: ast.Call, out: Out) -> ast.expr:
        draft, arguments = self.child_draft(call)
        values = self.unit.expressions.lower_all([item.value for item in arguments], out)
        given = _dict([item.name for item in arguments], values)
        draft.inputs["input"] = self.unit.code([located(ast.Expr(given), call)])[0]
        return self._result(draft, call, out)

    def child_draft(self, call: ast.Call) -> tuple[Draft, list[Argument]]:
        """The start of a child, and the inputs that it is given, not lowered yet."""
        unit = self.unit
        found: Any = unit.world.resolve(call.args[0]) if call.args else MISSING
        if not getattr(found, WORKFLOW, False):
            # What is not there yet may be further down in the module, or this function itself.
            unit.refuse(
                "await-unknown" if call.args and found is MISSING else "run-child",
                call,
                "run_child starts a workflow function.",
                "`await run_child(ship, order_id)`.",
            )
        inner = located(ast.Call(call.args[0], call.args[1:], call.keywords), call)
        arguments = bind_workflow(unit, inner, found)
        unit.children[found.id] = found
        draft = self._word("RunChild", "run_child", call)
        draft.inputs = {"workflow": found.id, "wait": True}
        return draft, arguments

    def _ask(self, call: ast.Call, out: Out) -> ast.expr:
        draft, given, form = self.ask_draft(call)
        values = self.unit.expressions.lower_all(list(given.values()), out)
        draft.inputs.update({name: self.input_of(value) for name, value in zip(given, values, strict=True)})
        result = self._result(draft, call, out)
        return result if form is None else self.helped("filled_in", [result, form], call)

    def ask_draft(self, call: ast.Call) -> tuple[Draft, dict[str, ast.expr], ast.expr | None]:
        """The task, its inputs, not lowered yet, and the name of the class that the answer is to be made."""
        unit = self.unit
        given = word_arguments(unit, call, ("who", "form", "about", "title", "due"))
        named = given.pop("form", None)
        draft = self._word("HumanTask", "ask", call)
        if named is not None:
            form: Any = unit.world.resolve(named)
            if not is_registrable(form):
                unit.refuse("ask-form", named, "A form is a class of data.", "Use a dataclass or a model of a module.")
            unit.value_types[form] = None
            draft.inputs["form"] = Expression(language="literal", source=form_of(form))
        return draft, {"assignee" if name == "who" else name: value for name, value in given.items()}, named

    def _poll(self, call: ast.Call, out: Out) -> ast.expr:
        """`poll(check(x), until=…, every=…)`: a loop of the call, the test and a sleep."""
        unit = self.unit
        given = word_arguments(unit, call, ("call", "until", "every"))
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
        """With a call: remember it. Without: make all that are remembered, the last first."""
        from holdfast.authoring.compiler.parallel import branches_of

        if call.keywords or len(call.args) > 1:
            self.unit.refuse("compensate", call, "It takes one call, or none.", "`await compensate(refund(receipt))`.")
        draft = self._word("Undo" if call.args else "Compensate", "compensate", call)
        if call.args:
            branches_of(self.unit, draft, call.args, out)
            draft.inputs.pop("results")
        out.append(draft)
        return located(ast.Constant(None), call)  # type: ignore[no-any-return]  # a node stays what it is

    def helped(self, name: str, arguments: list[ast.expr], at: ast.AST) -> ast.expr:
        """A function of ours that the stored code calls by reference."""
        alias = f"__holdfast_{name}"
        self.unit.helpers[alias] = {"of": f"{stored_name(primitives.__name__)}:{name}"}
        if name == Finished.__name__:
            self.unit.value_types[Finished] = None
        found: ast.expr = located(ast.Call(ast.Name(alias, ast.Load()), arguments, []), at)
        return found


def _dict(names: list[str], values: list[ast.expr]) -> ast.Dict:
    keys: list[ast.expr | None] = [ast.Constant(name) for name in names]
    return ast.Dict(keys, values)


__all__ = ["WORD", "WORKFLOW", "Calls"]


def _fits(value: Any, event: type) -> bool:
    return isinstance(value, event) or (event in (float, complex) and isinstance(value, int | float))
