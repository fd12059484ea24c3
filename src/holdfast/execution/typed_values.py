"""Typed values: values that are written to variables, inputs and outputs with a declared type.

A value of another type is converted (`model.types.convert`), or the activity that writes it faults with `WrongType`.
A slot of the type `any`, or of a class that this process has not registered, takes every value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from holdfast.errors import WrongResult, WrongType
from holdfast.execution.return_types import shortened
from holdfast.model import values
from holdfast.model.scope import FIRST_SLOT, Shape
from holdfast.model.types import BUILT_IN, conforms, convert, parse_type
from holdfast.model.types.conversion import CLASSES
from holdfast.model.types.names import TypeName
from holdfast.model.values.forms import form_of

if TYPE_CHECKING:
    from holdfast.execution.plan import Plan

Check = Callable[[Any], Any]
"""Takes a value and returns it, converted if necessary. Raises `WrongType`."""

AS_THEY_ARE: Mapping[str, frozenset[type]] = {
    "any": values.SCALARS,
    "integer": frozenset({int}),
    "number": frozenset({int, float}),
    "string": frozenset({str}),
    "boolean": frozenset({bool}),
}
"""By type: classes whose values need neither conversion nor a copy."""
_NO_CLASSES: frozenset[type] = frozenset()
_NONE: frozenset[type] = frozenset({type(None)})


def type_check(plan: Plan, what: str, type_name: str) -> Check | None:
    """The check of values for `what`, such as `variable 'count'`; None if every value is accepted."""
    name = parse_type(type_name)
    if name.base == "any":
        return None
    at_once = AS_THEY_ARE.get(type_name.rstrip("?"), _NO_CLASSES) | _NONE
    class_names = _class_names(name)

    def checked(value: Any) -> Any:
        if value.__class__ in at_once:
            return value
        types = plan.types  # Read late: functions of the plan add classes.
        if any(types.find(item) is None for item in class_names):
            return value
        try:
            return value if conforms(value, type_name, types) else convert(value, type_name, types)
        except ValueError as error:
            raise WrongType(what, type_name, str(error)) from error

    return checked


def result_check(plan: Plan, title: str, type_name: str) -> Check | None:
    """The check of a function's result. It is not converted: the class of the annotation, or a subclass, is required."""
    name = parse_type(type_name)
    if name.base == "any":
        return None
    at_once = AS_THEY_ARE.get(type_name, _NO_CLASSES)

    def checked(value: Any) -> Any:
        if value.__class__ in at_once or _has_kind(value, name, plan):
            return value
        raise WrongResult(title, type_name, shortened(value))

    return checked


def _has_kind(value: Any, name: TypeName, plan: Plan) -> bool:
    if value is None:
        return name.nullable
    if name.base == "list":
        return isinstance(value, Iterable) and not isinstance(value, str | bytes)
    if name.base == "object":
        return isinstance(value, Mapping) or form_of(value.__class__) is not None
    cls = CLASSES.get(name.base) or plan.types.find(name.base)
    return cls is None or isinstance(value, cls)


def check_slot(plan: Plan, shape: Shape, index: int, what: str) -> None:
    """Check values that are written to this slot of a scope."""
    add_check(shape, index, type_check(plan, what, shape.types[index - FIRST_SLOT]))


def add_check(shape: Shape, index: int, check: Check | None) -> None:
    if check is not None:
        shape.checks[index] = check


def _class_names(name: TypeName) -> list[str]:
    found = [] if name.base in BUILT_IN else [name.base]
    return found if name.item is None else [*found, *_class_names(name.item)]
