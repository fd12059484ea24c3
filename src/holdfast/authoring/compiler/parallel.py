"""Concurrent calls: `gather`, `first` and `async with parallel(…)`."""

from __future__ import annotations

import ast
from typing import Any

from holdfast.authoring.compiler.arguments import primitive_arguments
from holdfast.authoring.compiler.blocks import has_await, located
from holdfast.authoring.compiler.drafts import Draft
from holdfast.authoring.compiler.passes import Argument, Out
from holdfast.authoring.compiler.unit import Unit
from holdfast.model.definition import Expression, Variable
from holdfast.model.values.registry import default_name

VALUE = "__value"
"""Name in a branch's scope that holds the result of its call."""
_SINGLE_INPUT = {"Function": "arguments", "RunChild": "input"}
"""Activities that take all arguments of a call as one input."""


def branches_of(unit: Unit, draft: Draft, calls: list[ast.expr], out: Out) -> None:
    """Turn each call into a branch, and into an element of the list that selects branches and their arguments."""
    draft.inputs["results"] = unit.temporary()
    branches: list[Draft] = []
    elements: list[ast.expr] = []
    for call in calls:
        over = call.value if isinstance(call, ast.Starred) else None
        if isinstance(over, ast.ListComp | ast.GeneratorExp) and isinstance(over.elt, ast.Call):
            element = _element(unit, over.elt, branches)
            listed = located(ast.ListComp(element, over.generators), over)
            elements.append(located(ast.Starred(listed, ast.Load()), call))
        elif isinstance(call, ast.Call):
            elements.append(_element(unit, call, branches))
        else:
            unit.refuse(
                "gather-value",
                call,
                "Only calls can run concurrently.",
                "`await gather(a(x), b(y))`, or over a list: `await gather(*[a(x) for x in xs])`.",
            )
    (whole,) = unit.expressions.lower_all(
        [located(ast.List(elements, ast.Load()), calls[0])] if calls else [_empty()], out
    )
    unit.put_value(draft, "calls", whole)
    draft.ports["branches"] = branches


def _empty() -> ast.expr:
    return ast.copy_location(ast.List([], ast.Load()), ast.Constant(0, lineno=1, col_offset=0))


def _element(unit: Unit, call: ast.Call, branches: list[Draft]) -> ast.expr:
    """`(number of the branch, {argument: value})`"""
    branch, arguments = _branch(unit, call)
    number = len(branches)
    branches.append(branch)
    keys: list[ast.expr | None] = [ast.Constant(item.name) for item in arguments]
    named = ast.Dict(keys, [item.value for item in arguments])
    found: ast.expr = located(ast.Tuple([ast.Constant(number), named], ast.Load()), call)
    return found


def _branch(unit: Unit, call: ast.Call) -> tuple[Draft, list[Argument]]:
    draft, arguments, of = _call_of(unit, call)
    draft.outputs = {"result": VALUE} if draft.type != "Sleep" else {}
    names = [item.name for item in arguments]
    single_input = _SINGLE_INPUT.get(draft.type)
    if single_input is not None:
        draft.inputs[single_input] = Expression("code", f"{{{', '.join(f'{name!r}: {name}' for name in names)}}}")
    else:
        for name in names:
            language = "code" if name == "default" else "variable"
            draft.inputs[name] = Expression(language, name)
    branch = unit.draft("Branch", "branch", call, unit.label(call), ports={"body": draft})
    if of is not None:
        branch.inputs["of"] = of
    branch.variables = tuple(Variable(name=name) for name in (*names, VALUE))
    return branch, arguments


def _call_of(unit: Unit, call: ast.Call) -> tuple[Draft, list[Argument], str | None]:
    """The activity of a branch, its arguments, and the class to convert its value to (None if the activity does that)."""
    word, of = unit.calls.primitive_of(call), None
    if word is None:
        return *unit.calls.target(call), None
    if word == "run_child":
        return *unit.calls.child_draft(call), None
    if word == "sleep":
        draft, given = unit.draft("Sleep", "sleep", call, unit.label(call)), primitive_arguments(unit, call, ("until",))
    elif word == "wait_for":
        draft, given = unit.calls.wait_draft(call)
        if "where" in given:
            unit.refuse("where-in-branch", call, "`where=` in one of several waits.", "Test the event after `first`.")
    elif word == "ask":
        draft, given, form = unit.calls.ask_draft(call)
        of = None if form is None else default_name(unit.module_names.resolve(form))
    else:
        unit.refuse("gather-word", call, f"`{word}` cannot be one of several calls.", "Put it in a separate workflow.")
    return draft, [Argument(name, value, number) for number, (name, value) in enumerate(given.items())], of


# -- async with parallel -----------------------------------------------------------------------------------------------


def lower_parallel(unit: Unit, node: ast.AsyncWith, out: Out) -> None:
    call, name = _parallel(unit, node)
    started = unit.temporary()
    draft = unit.draft("Gather", "parallel", node, unit.label(call))
    branches: list[Draft] = []
    starts = _Starts(unit, name, started, branches)
    body = [starts.visit(statement) for statement in node.body]
    if has_await(body):
        unit.refuse(
            "await-in-parallel",
            node,
            "`await` inside `async with parallel(…)`.",
            "Start the calls inside; await before or after the block.",
        )
    out.append(_made(unit.assign(started, located(ast.List([], ast.Load()), node))))
    for statement in body:
        unit.statements.statement(statement, out)
    draft.inputs["results"] = unit.temporary()
    unit.put_value(draft, "calls", unit.load(started, node))
    limits = [*call.args, *[item.value for item in call.keywords if item.arg == "limit"]]
    limit = limits[0] if limits else None
    if limit is not None:
        unit.put_value(draft, "limit", unit.expressions.lower(limit, out))
    draft.ports["branches"] = branches
    result = unit.temporary()
    draft.outputs["result"] = result
    out.append(draft)
    finished = unit.calls.helper_call("Finished", [unit.load(result, node)], node)
    out.append(_made(located(ast.Assign([ast.Name(name, ast.Store())], finished), node)))


def _made(statement: ast.stmt) -> ast.stmt:
    """Mark a generated statement, so that diagrams omit it."""
    statement._made = True  # type: ignore[attr-defined]  # nodes are ordinary objects
    return statement


def _parallel(unit: Unit, node: ast.AsyncWith) -> tuple[ast.Call, str]:
    item = node.items[0]
    call, target = item.context_expr, item.optional_vars
    if (
        len(node.items) != 1
        or not isinstance(call, ast.Call)
        or unit.calls.primitive_of(call) != "parallel"
        or not isinstance(target, ast.Name)
    ):
        unit.refuse(
            "async-with",
            node,
            "Only `async with parallel(…) as branches` is supported here.",
            "Open and use the resource inside one activity.",
        )
    return call, target.id


class _Starts(ast.NodeTransformer):
    """Turns `branches.start(call(…))` into an entry of the list of calls that run when the block ends."""

    def __init__(self, unit: Unit, name: str, started: str, branches: list[Draft]) -> None:
        self.unit = unit
        self.name = name
        self.started = started
        self.branches = branches

    def visit_Call(self, node: ast.Call) -> Any:
        function = node.func
        if not (isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name)):
            return self.generic_visit(node)
        if function.value.id != self.name:
            return self.generic_visit(node)
        if function.attr != "start" or len(node.args) != 1 or not isinstance(node.args[0], ast.Call):
            self.unit.refuse(
                "parallel-start",
                node,
                "Inside the block, branches can only start calls.",
                f"`{self.name}.start(activity(…))`.",
            )
        element = _element(self.unit, node.args[0], self.branches)
        method = ast.Attribute(ast.Name(self.started, ast.Load()), "append", ast.Load())
        return located(ast.Call(method, [element], []), node)
