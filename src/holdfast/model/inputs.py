"""Check of external inputs against the declaration of a definition."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

from holdfast.errors import InvalidInput, ValueRefused
from holdfast.model.definition import Definition, InputDeclaration
from holdfast.model.pointers import pointer
from holdfast.model.problem import Problem
from holdfast.model.types import fit
from holdfast.model.values import TypeRegistry, copy

__all__ = ["check_inputs"]


def check_inputs(definition: Definition, given: Mapping[str, Any], types: TypeRegistry | None = None) -> dict[str, Any]:
    """Every declared input with its given (losslessly converted) or default value. The values are copies.

    Raises `InvalidInput` with all problems: missing, wrong type, unknown, or not storable.
    """
    if not given and not definition.inputs:
        return {}
    problems: list[Problem] = []
    complete: dict[str, Any] = {}
    for declared in definition.inputs:
        value, problem = _take(declared, given, types)
        complete[declared.name] = value
        if problem is not None:
            problems.append(problem)
    problems.extend(_unknown(definition, given))
    if problems:
        raise InvalidInput(problems, name=definition.title)
    return complete


def _take(
    declared: InputDeclaration, given: Mapping[str, Any], types: TypeRegistry | None
) -> tuple[Any, Problem | None]:
    name, path = declared.name, pointer("", declared.name)
    value = given.get(name)
    if value is None and name in given and not declared.required:
        return None, None
    if value is None and declared.required and declared.default is None:
        return None, Problem(
            path=path,
            code="missing-input",
            message=f"The input '{name}' is required.",
            remedy=f"Give a value of type {declared.type}.",
        )
    if value is None:
        return copy(declared.default, name), None
    try:
        return fit(copy(value, name), declared.type, types), None
    except ValueRefused as error:
        return None, Problem(path=path, code="value-refused", message=str(error), remedy="")
    except ValueError as error:
        return None, Problem(
            path=path,
            code="wrong-type",
            message=f"The input '{name}' must be of type {declared.type}.",
            remedy=str(error),
        )


def _unknown(definition: Definition, given: Mapping[str, Any]) -> list[Problem]:
    known = [declared.name for declared in definition.inputs]
    problems = []
    for name in given:
        if name in known:
            continue
        close = get_close_matches(str(name), known, n=1)
        remedy = f"Did you mean '{close[0]}'?" if close else _declared(known)
        problems.append(
            Problem(
                path=pointer("", str(name)),
                code="unknown-input",
                message=f"'{definition.title}' has no input '{name}'.",
                remedy=remedy,
            )
        )
    return problems


def _declared(known: list[str]) -> str:
    return f"It has {', '.join(known)}." if known else "It takes no inputs."
