"""Lowering of statements to activities.

Statements without an await stay Python; others are split as little as possible.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from holdfast.authoring.compiler.assignment import deleted_in, note_assignments, targets_of, walrus_in
from holdfast.authoring.compiler.blocks import escapes, has_await, located
from holdfast.authoring.compiler.context_managers import managed
from holdfast.authoring.compiler.drafts import Draft, Entry
from holdfast.authoring.compiler.names import is_temporary
from holdfast.authoring.compiler.parallel import lower_parallel
from holdfast.authoring.compiler.passes import Out
from holdfast.authoring.compiler.unit import Condition, Unit


class Statements:
    def __init__(self, unit: Unit) -> None:
        self.unit = unit
        self.lower = unit.expressions.lower
        self.lowerings: dict[type, Callable[[Any, Out], None]] = {
            ast.Expr: self._expression,
            ast.Assign: self._assign,
            ast.AnnAssign: self._annotated,
            ast.AugAssign: self._augmented,
            ast.Return: self._return,
            ast.Raise: self._raise,
            ast.Assert: self._assert,
            ast.If: self._if,
            ast.While: self._while,
            ast.For: self._for,
            ast.Try: self._try,
            ast.Match: self._match,
            ast.With: self._with,
            ast.AsyncWith: lambda node, out: lower_parallel(unit, node, out),
        }

    # -- lists of statements -------------------------------------------------------------------------------------------

    def lower_body(self, body: list[ast.stmt]) -> list[Draft]:
        out: Out = []
        for statement in body:
            self.statement(statement, out)
            note_assignments(self.unit, statement)
        return self.seal(out)

    def part(self, body: list[ast.stmt]) -> Draft:
        """The statements as one activity."""
        return self.unit.sequence(self.lower_body(body), body[0])

    def seal(self, out: Out) -> list[Draft]:
        """Merge consecutive plain statements into blocks."""
        drafts: list[Draft] = []
        run: list[ast.stmt] = []

        def flush() -> None:
            if run:
                drafts.append(self.unit.block(list(run)))
                run.clear()

        for item in out:
            if isinstance(item, ast.stmt):
                run.append(item)
                continue
            flush()
            drafts.append(self._condition(item) if isinstance(item, Condition) else item)
        flush()
        return drafts

    def _condition(self, item: Condition) -> Draft:
        unit = self.unit
        draft = unit.draft("If", "if", item.at, unit.label(item.at))
        unit.put_test(draft, "condition", item.test)
        draft.ports["then"] = unit.sequence(self.seal(item.then), item.at)
        if item.otherwise:
            draft.ports["otherwise"] = unit.sequence(self.seal(item.otherwise), item.at)
        return draft

    # -- dispatch ------------------------------------------------------------------------------------------------------

    def statement(self, node: ast.stmt, out: Out) -> None:
        unit = self.unit
        if isinstance(node, ast.Pass) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
            return
        if not has_await(node):
            self._plain(node, out)
            return
        lowering = self.lowerings.get(type(node))
        if lowering is None:
            unit.refuse(
                "statement",
                node,
                f"`{type(node).__name__.lower()}` with an await inside is not supported.",
                "Assign the awaited value to a name first; open and use a resource inside one activity.",
            )
        unit.walrus = walrus_in(node)
        steps: Out = []
        lowering(node, steps)
        unit.walrus = set()
        self._end_temporaries(steps)
        out.extend(steps)

    def _plain(self, node: ast.stmt, out: Out) -> None:
        unit = self.unit
        if isinstance(node, ast.Return):
            self._return(node, out)
        elif isinstance(node, ast.Break | ast.Continue):
            kind = type(node).__name__
            out.append(unit.draft(kind, kind.lower(), node))
        elif isinstance(node, ast.If) and escapes(node):
            self._if(node, out)
        elif not (isinstance(node, ast.AnnAssign) and node.value is None):
            out.append(node)

    def _end_temporaries(self, steps: Out) -> None:
        """Delete temporaries that certainly have a value at the end of their statement."""
        if not steps or not isinstance(steps[-1], ast.stmt) or isinstance(steps[-1], ast.Raise):
            return
        names = [name for item in steps for name in _given(item) if is_temporary(name)]
        if names:
            targets: list[ast.expr] = [ast.Name(name, ast.Del()) for name in dict.fromkeys(names)]
            ending = located(ast.Delete(targets), steps[-1])
            ending._made = True
            steps.append(ending)

    # -- simple statements ---------------------------------------------------------------------------------------------

    def _expression(self, node: ast.Expr, out: Out) -> None:
        value = self.lower(node.value, out)
        if not isinstance(value, ast.Constant) and not (isinstance(value, ast.Name) and is_temporary(value.id)):
            out.append(located(ast.Expr(value), node))

    def _annotated(self, node: ast.AnnAssign, out: Out) -> None:
        assert node.value is not None
        self._assign(located(ast.Assign([node.target], node.value), node), out)

    def _assign(self, node: ast.Assign, out: Out) -> None:
        value = self.lower(node.value, out)
        target = node.targets[0]
        if len(node.targets) == 1 and isinstance(target, ast.Name) and _retarget(out, node.value, value, target.id):
            self.unit.result_types.setdefault(target.id, []).append(out[-1].result_type)
            return
        if not has_await(node.targets):
            out.append(located(ast.Assign(node.targets, value), node))
            return
        value = self.unit.expressions.spill(value, out)
        for item in node.targets:
            out.append(located(ast.Assign([self._target(item, out)], value), node))

    def _target(self, target: ast.expr, out: Out) -> ast.expr:
        if not has_await(target):
            return target
        found: ast.expr
        if isinstance(target, ast.Subscript):
            value, index = self.unit.expressions.lower_all([target.value, target.slice], out)
            found = located(ast.Subscript(value, index, ast.Store()), target)
        elif isinstance(target, ast.Attribute):
            found = located(ast.Attribute(self.lower(target.value, out), target.attr, ast.Store()), target)
        else:
            self.unit.refuse(
                "await-in-unpacking", target, "`await` inside an unpacking target.", "Compute the index first."
            )
        return found

    def _augmented(self, node: ast.AugAssign, out: Out) -> None:
        unit, target = self.unit, node.target
        current = unit.temporary()
        if isinstance(target, ast.Name):
            out.append(unit.assign(current, unit.load(target.id, target)))
            store: ast.expr = target
        else:
            base = unit.expressions.spill(self.lower(target.value, out), out)
            if isinstance(target, ast.Subscript):
                index = unit.expressions.spill(self.lower(target.slice, out), out)
                read, store = ast.Subscript(base, index, ast.Load()), ast.Subscript(base, index, ast.Store())
            else:
                read, store = (
                    ast.Attribute(base, target.attr, ast.Load()),  # type: ignore[assignment]  # either kind of target
                    ast.Attribute(base, target.attr, ast.Store()),
                )
            out.append(unit.assign(current, located(read, target)))
        value = self.lower(node.value, out)
        computed = located(ast.AugAssign(ast.Name(current, ast.Store()), node.op, value), node)
        computed._made = True
        out.append(computed)
        out.append(located(ast.Assign([store], unit.load(current, target)), node))

    def _return(self, node: ast.Return, out: Out) -> None:
        unit = self.unit
        value = self.lower(node.value, out) if node.value is not None else located(ast.Constant(None), node)
        draft = unit.draft("Return", "return", node, unit.label(node))
        unit.put_value(draft, "value", value)
        out.append(draft)

    def _raise(self, node: ast.Raise, out: Out) -> None:
        error, cause = self.unit.expressions.lower_all([node.exc, node.cause], out)
        out.append(located(ast.Raise(error, cause), node))

    def _assert(self, node: ast.Assert, out: Out) -> None:
        test = self.lower(node.test, out)
        inner: Out = []
        with self.unit.branch():
            message = [self.lower(node.msg, inner)] if node.msg is not None else []
            error = ast.Call(ast.Name("AssertionError", ast.Load()), message, [])
            inner.append(located(ast.Raise(error, None), node))
        out.append(Condition(located(ast.UnaryOp(ast.Not(), test), node.test), inner, [], node))

    # -- branches and loops --------------------------------------------------------------------------------------------

    def _if(self, node: ast.If, out: Out) -> None:
        unit = self.unit
        test = self.lower(node.test, out)
        draft = unit.draft("If", "if", node.test, unit.label(node.test))
        unit.put_test(draft, "condition", test)
        with unit.branch() as yes:
            draft.ports["then"] = self.part(node.body)
        with unit.branch() as no:
            if node.orelse:
                draft.ports["otherwise"] = self.part(node.orelse)
        unit.assigned |= yes[0] & no[0]
        out.append(draft)

    def _while(self, node: ast.While, out: Out) -> None:
        unit = self.unit
        unit.assigned -= deleted_in(node)
        before: Out = []
        test = self.lower(node.test, before)
        draft = unit.draft("LoopWhile", "while", node, unit.label(node.test))
        if before:
            draft.ports["before"] = unit.sequence(self.seal(before), node)
        unit.put_test(draft, "condition", test)
        with unit.branch():
            draft.ports["body"] = self.part(node.body)
        self._otherwise(draft, node.orelse)
        out.append(draft)

    def _for(self, node: ast.For, out: Out) -> None:
        unit = self.unit
        if isinstance(node.iter, ast.GeneratorExp):
            unit.refuse(
                "generator-loop",
                node.iter,
                "A loop that awaits cannot iterate over a generator.",
                "Loop over a list: `[…]`.",
            )
        if has_await(node.target):
            unit.refuse("await-in-unpacking", node.target, "`await` inside a loop target.", "Assign in the body.")
        items = self.lower(node.iter, out)
        unit.assigned -= deleted_in(node)
        iterator, item = unit.temporary(), unit.temporary()
        label = f"{unit.label(node.target)} in {unit.label(node.iter)}"
        draft = unit.draft("LoopOver", "for", node, label, inputs={"iterator": iterator, "item": item})
        unit.put_value(draft, "items", items)
        unit.put_code(draft, "target", [located(ast.Assign([node.target], unit.load(item, node.target)), node.target)])
        with unit.branch():
            unit.assigned |= targets_of(node.target)
            draft.ports["body"] = self.part(node.body)
        self._otherwise(draft, node.orelse)
        out.append(draft)

    def _otherwise(self, draft: Draft, body: list[ast.stmt]) -> None:
        with self.unit.branch():
            if body:
                draft.ports["otherwise"] = self.part(body)

    def _match(self, node: ast.Match, out: Out) -> None:
        unit = self.unit
        subject = self.lower(node.subject, out)
        draft = unit.draft("Choose", "match", node, unit.label(node.subject))
        selecting: list[ast.match_case] = []
        cases: list[Entry] = []
        for number, case in enumerate(node.cases):
            if has_await(case.guard):
                unit.refuse("await-in-guard", case.guard or node, "`await` in a guard.", "Decide inside the case.")
            answer = located(ast.Return(ast.Constant(number)), case.pattern)
            selecting.append(ast.match_case(case.pattern, case.guard, [answer]))
            with unit.branch():
                body = self.part(case.body)
            cases.append(Entry({"label": ast.unparse(case.pattern)}, {"body": body}))
        unit.put_code(draft, "select", [located(ast.Match(subject, selecting), node)])
        draft.ports["cases"] = cases
        out.append(draft)

    def _with(self, node: ast.With, out: Out) -> None:
        self.lower_into(managed(self.unit, node), out)

    def lower_into(self, body: list[ast.stmt], out: Out) -> None:
        for statement in body:
            self.statement(statement, out)

    # -- try -----------------------------------------------------------------------------------------------------------

    def _try(self, node: ast.Try, out: Out) -> None:
        unit = self.unit
        draft = unit.draft("Attempt", "try", node, "try")
        draft.inputs = {"error": unit.temporary(), "value": unit.temporary()}
        entry = set(unit.assigned) - deleted_in(node)
        ends: list[set[str]] = []
        with unit.branch() as body:
            draft.ports["body"] = self.part(node.body)
            if node.orelse:
                draft.ports["otherwise"] = self.part(node.orelse)
        ends.append(body[0])
        unit.assigned = set(entry)
        handlers = [self._handler(draft, number, item, ends) for number, item in enumerate(node.handlers)]
        if handlers:
            draft.ports["handlers"] = handlers
        unit.assigned = set(entry)
        if node.finalbody:
            with unit.branch():
                draft.ports["finally_"] = self.part(node.finalbody)
        unit.assigned = set.intersection(*ends) - {item.name for item in node.handlers if item.name}
        out.append(draft)

    def _handler(self, draft: Draft, number: int, node: ast.ExceptHandler, ends: list[set[str]]) -> Entry:
        unit = self.unit
        data: dict[str, Any] = {}
        if node.type is not None:
            if has_await(node.type):
                unit.refuse("await-in-except", node.type, "`await` in an except clause.", "Name the types.")
            lines: dict[str, Any] = draft.metadata.setdefault("lines", {})
            data["label"] = unit.label(node.type)
            data["errors"], lines[f"errors{number}"] = unit.code([located(ast.Expr(node.type), node.type)])
        if node.name:
            data["name"] = node.name
        with unit.branch() as end:
            if node.name:
                unit.assigned.add(node.name)
            body = self.part(node.body)
        ends.append(end[0])
        return Entry(data, {"body": body})


def _given(item: Any) -> list[str]:
    """Names that a step certainly assigns."""
    if isinstance(item, Draft):
        return list(item.outputs.values())
    if isinstance(item, ast.Assign):
        return [target.id for target in item.targets if isinstance(target, ast.Name)]
    return []


def _retarget(out: Out, value: ast.expr, lowered: ast.expr, target: str) -> bool:
    """For `x = await act()`, bind the activity's output directly to `x`."""
    last = out[-1] if out else None
    if not isinstance(value, ast.Await) or not isinstance(lowered, ast.Name) or not isinstance(last, Draft):
        return False
    if last.outputs.get("result") != lowered.id:
        return False
    last.outputs["result"] = target
    return True
