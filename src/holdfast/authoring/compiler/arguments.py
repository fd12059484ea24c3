"""Argument binding of awaited calls at import, so that a wrong call is refused early."""

from __future__ import annotations

import ast
import inspect
from typing import Any

from holdfast.authoring.compiler.passes import Argument
from holdfast.authoring.compiler.unit import Unit
from holdfast.model.descriptor import ActivityDescriptor


def bind_arguments(unit: Unit, call: ast.Call, descriptor: ActivityDescriptor) -> list[Argument]:
    names = [item.name for item in descriptor.inputs]
    required = [item.name for item in descriptor.inputs if item.required]
    return _bind(unit, call, names, required, descriptor.type)


def bind_workflow(unit: Unit, call: ast.Call, workflow: Any) -> list[Argument]:
    parameters = inspect.signature(workflow.function).parameters
    required = [name for name, item in parameters.items() if item.default is item.empty]
    return _bind(unit, call, list(parameters), required, workflow.function.__name__)


def _bind(unit: Unit, call: ast.Call, names: list[str], required: list[str], what: str) -> list[Argument]:
    _refuse_unpacking(unit, call)
    if len(call.args) > len(names):
        unit.refuse("arguments", call, f"'{what}' takes {len(names)} arguments, not {len(call.args)}.", _listed(names))
    bound = [Argument(names[number], value, number) for number, value in enumerate(call.args)]
    for item in call.keywords:
        name = str(item.arg)
        if name not in names:
            unit.refuse("arguments", call, f"'{what}' has no parameter '{name}'.", _listed(names))
        if name in [argument.name for argument in bound]:
            unit.refuse("arguments", call, f"'{name}' is given twice.", _listed(names))
        bound.append(Argument(name, item.value, names.index(name)))
    missing = [name for name in required if name not in [argument.name for argument in bound]]
    if missing:
        unit.refuse("arguments", call, f"'{what}' needs {', '.join(missing)}.", _listed(names))
    return bound


def primitive_arguments(unit: Unit, call: ast.Call, names: tuple[str, ...]) -> dict[str, Any]:
    """Arguments of a primitive, in source order."""
    _refuse_unpacking(unit, call)
    if len(call.args) > len(names) or not (call.args or call.keywords):
        unit.refuse("arguments", call, "These arguments do not match.", _listed(list(names)))
    given: dict[str, Any] = dict(zip(names, call.args, strict=False))
    for item in call.keywords:
        if item.arg not in names or item.arg in given:
            unit.refuse("arguments", call, f"There is no parameter '{item.arg}'.", _listed(list(names)))
        given[str(item.arg)] = item.value
    if names[0] not in given:
        unit.refuse("arguments", call, f"The argument '{names[0]}' is missing.", _listed(list(names)))
    return given


def _refuse_unpacking(unit: Unit, call: ast.Call) -> None:
    for item in [*call.args, *call.keywords]:
        if isinstance(item, ast.Starred) or (isinstance(item, ast.keyword) and item.arg is None):
            unit.refuse(
                "unpacked-arguments",
                item.value,
                "Arguments of an activity need names, and `*` or `**` hides them.",
                "List the arguments.",
            )


def _listed(names: list[str]) -> str:
    return f"Parameters: {', '.join(names) or 'none'}."
