"""Compiler from a typed `async def` to a definition of ordinary activities.

The passes, in order: read the text (`source`), refuse unsupported code (`checks`), then split the statements at each
await (`statements`, `expressions`, `calls`). Code without an await stays Python text (`blocks`).
"""

from __future__ import annotations

import ast
import builtins
import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from holdfast.authoring.compiler.calls import Calls
from holdfast.authoring.compiler.checks import check_function
from holdfast.authoring.compiler.drafts import Draft
from holdfast.authoring.compiler.expressions import Expressions
from holdfast.authoring.compiler.names import MISSING, is_temporary
from holdfast.authoring.compiler.source import Source, read_source
from holdfast.authoring.compiler.statements import Statements
from holdfast.authoring.compiler.types import check_annotations, classes_in, type_names
from holdfast.authoring.compiler.unit import Unit
from holdfast.authoring.compiler.walk import nodes_of
from holdfast.errors import ValueRefused
from holdfast.model.definition import Expression, InputDeclaration, OutputDeclaration, Variable
from holdfast.model.module_names import public_name
from holdfast.model.values import encode
from holdfast.model.values.registry import is_registrable

__all__ = ["Compiled", "check_function", "compile_function", "read_source"]


@dataclass(frozen=True, slots=True)
class Compiled:
    """The parts of a definition that come from a function's text."""

    root: Draft
    inputs: tuple[InputDeclaration, ...]
    outputs: tuple[OutputDeclaration, ...]
    activity_types: tuple[Any, ...]
    value_types: tuple[type, ...]
    children: tuple[Any, ...]
    """Workflow functions that it starts with `run_child`."""
    source: Source


def compile_function(function: Callable[..., Any]) -> Compiled:
    """Raises `WorkflowRefused` with file, line and remedy."""
    source = read_source(function)
    check_function(source)
    check_annotations(source)
    unit, root = _compile(source, "", (public_name(function),))
    root.outputs["result"] = "result"
    names = type_names(source)
    return Compiled(
        root=root,
        inputs=tuple(_inputs(source, names)),
        outputs=(OutputDeclaration(name="result", type=names.get("return", "any")),),
        activity_types=tuple(unit.activity_types.values()),
        value_types=tuple(unit.value_types),
        children=tuple(unit.children.values()),
        source=source,
    )


def _compile(source: Source, prefix: str, chain: tuple[str, ...]) -> tuple[Unit, Draft]:
    unit = Unit(source, prefix, chain)
    unit.expressions = Expressions(unit)
    unit.calls = Calls(unit, _nested)
    unit.statements = Statements(unit)
    unit.assigned = set(source.signature.parameters)
    unit.ids.new(source.name)
    draft = Draft(type="Function", id=f"{prefix}{source.name}", name=source.name)
    draft.metadata = {"file": source.place.file, "line": source.place.line_of(source.tree), "title": source.name}
    calls = [node for node in nodes_of(source.tree) if isinstance(node, ast.Call) and node not in _decorators(source)]
    draft.ports["body"] = unit.statements.part(source.tree.body)
    unit.calls.refuse_forgotten(calls)
    draft.inputs["uses"] = Expression("code", json.dumps(_uses(unit)))
    draft.inputs["parameters"] = list(source.signature.parameters)
    draft.inputs["defaults"] = _defaults(source)
    types = {**_typed_by_results(unit), **type_names(source)}
    names = [*unit.locals, *unit.temporaries]
    draft.variables = tuple(Variable(name=name, type=types.get(name, "any")) for name in names)
    for annotation in source.annotations.values():
        unit.value_types.update(dict.fromkeys(classes_in(annotation)))
    return unit, draft


def _typed_by_results(unit: Unit) -> dict[str, str]:
    """Locals that are assigned once, by an activity, have the type of its result."""
    stores = Counter(
        node.id for node in nodes_of(unit.source.tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    )
    return {name: types[0] for name, types in unit.result_types.items() if stores[name] == 1}


def _decorators(source: Source) -> list[ast.expr]:
    return source.tree.decorator_list


def _nested(workflow: Any, caller: Unit, base: str) -> Draft:
    """Inline a call of another workflow: its activities become part of this definition."""
    identity = public_name(workflow.function)
    if identity in caller.chain:
        caller.refuse(
            "recursion",
            caller.source.tree,
            f"'{base}' calls itself.",
            "Start it as a separate instance with `await run_child(…)`, or write a loop.",
        )
    own = caller.ids.new(base)
    source = read_source(workflow.function)
    check_function(source)
    unit, draft = _compile(source, f"{own}.", (*caller.chain, identity))
    draft.id = own
    caller.activity_types.update(unit.activity_types)
    caller.value_types.update(unit.value_types)
    caller.children.update(unit.children)
    return draft


def _uses(unit: Unit) -> dict[str, Any]:
    """Globals that the stored text uses, in a form that can be resolved again from the store."""
    found: dict[str, Any] = {}
    for name in sorted(unit.used - set(unit.locals)):
        if is_temporary(name) or name in unit.helpers:
            continue
        value = unit.module_names.value(name)
        if value is MISSING:
            unit.refuse(
                "unknown-name",
                unit.source.tree,
                f"The name '{name}' is not defined in the module.",
                "Define or import it.",
            )
        use = unit.module_names.use(name)
        if use is not None and not (value is getattr(builtins, name, MISSING) and not callable(value)):
            found[name] = use
        if isinstance(value, type) and is_registrable(value):
            unit.value_types[value] = None
    return {**found, **_imports(unit.source), **unit.helpers}


def _imports(source: Source) -> dict[str, Any]:
    """Modules and names that the function imports itself: a local may hold them across an await."""
    found: list[str] = []
    for node in nodes_of(source.tree):
        if isinstance(node, ast.Import):
            found.extend(alias.name if alias.asname else alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.extend(f"{node.module}:{alias.name}" for alias in node.names)
    return {f"__holdfast_import{number}": {"of": name} for number, name in enumerate(found, 1)}


def _defaults(source: Source) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, parameter in source.signature.parameters.items():
        if parameter.default is parameter.empty:
            continue
        try:
            found[name] = encode(parameter.default)
        except ValueRefused as error:
            source.place.refuse(
                "default",
                source.tree,
                f"The default of '{name}' cannot be stored: {error}",
                "Use None and create it inside the function.",
            )
    return found


def _inputs(source: Source, types: dict[str, str]) -> list[InputDeclaration]:
    return [
        InputDeclaration(
            name=name,
            type=types.get(name, "any"),
            required=parameter.default is parameter.empty,
            default=None if parameter.default is parameter.empty else parameter.default,
        )
        for name, parameter in source.signature.parameters.items()
    ]
