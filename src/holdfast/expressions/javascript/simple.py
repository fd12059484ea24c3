"""Evaluation of simple JavaScript expressions in this process, for a fraction of the cost of the engine.

Only operations on scalars whose result and cost are plain are done here: numbers with numbers, short texts with texts. Every
other case (a conversion, an inherited member, `NaN`, an error) raises `Unsure`, and the engine evaluates the expression. That
is safe, because a simple expression changes nothing.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from datetime import date, time, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

from holdfast.expressions.javascript.simple_syntax import NotSimple, Tree, parse
from holdfast.expressions.plain_values import plain
from holdfast.model.scope import Scope

Evaluate = Callable[[Scope], Any]
Reader = Callable[[str, str], Evaluate | None]
"""(kind, name) → reader of a value; None for an unknown name. Kinds: `variable`, `input`, `getter`."""

_SAFE = (1 << 53) - 1
_TEXT_MAX = 10_000
"""Characters of a text that is compared, joined or tested here."""


class Unsure(Exception):
    """The engine has to evaluate the expression."""


def simple_expression(source: str, reader: Reader) -> Evaluate | None:
    """The compiled expression, which may raise `Unsure`; None if it is not simple."""
    try:
        made = _compiled(parse(source), reader)
    except NotSimple:
        return None
    return lambda scope: _result(made(scope))


def _result(value: Any) -> Any:
    """The value as it would come from the engine."""
    kind = value.__class__
    if kind is float and value.is_integer():
        raise Unsure  # Beyond the exact integers.
    if kind is list or kind is dict:
        raise Unsure
    return value


def _compiled(tree: Tree, reader: Reader) -> Evaluate:
    kind, *parts = tree
    if kind == "value":
        value = parts[0]
        return lambda scope: value
    if kind in ("variable", "input", "getter"):
        read = reader(kind, parts[0])
        if read is None:
            raise NotSimple
        return lambda scope: _scalar(read(scope))
    inner = _compiled(parts[0], reader)
    if kind == "member":
        name = parts[1]
        return lambda scope: _member(inner(scope), name)
    if kind == "item":
        index = parts[1]
        return lambda scope: _item(inner(scope), index)
    if kind == "!":
        return lambda scope: not _is_true(inner(scope))
    if kind == "negative":
        return lambda scope: _number(-_checked(inner(scope)))
    if kind == "if":
        first, second = _compiled(parts[1], reader), _compiled(parts[2], reader)
        return lambda scope: first(scope) if _is_true(inner(scope)) else second(scope)
    return _binary(kind, inner, _compiled(parts[1], reader))


def _binary(sign: str, left: Evaluate, right: Evaluate) -> Evaluate:
    if sign == "&&":
        return lambda scope: right(scope) if _is_true(value := left(scope)) else value
    if sign == "||":
        return lambda scope: value if _is_true(value := left(scope)) else right(scope)
    operation = _OPERATIONS[sign]
    return lambda scope: operation(left(scope), right(scope))


# -- values ------------------------------------------------------------------------------------------------------------


def _scalar(value: Any) -> Any:
    """A value as JavaScript sees it. Collections are converted where a member is read."""
    kind = value.__class__
    if kind is str or kind is bool or value is None or kind is dict or kind is list:
        return value
    if kind is int and -_SAFE <= value <= _SAFE:
        return value
    if kind is float:
        return _number(value)
    if isinstance(value, _CONVERTED):
        return _scalar(plain(value))
    raise Unsure


def _member(value: Any, name: str) -> Any:
    if value.__class__ is dict:
        if name in value and all(key.__class__ is str for key in value):
            return _scalar(value[name])
    elif name == "length":
        if value.__class__ is list:
            return len(value)
        if value.__class__ is str and value.isascii():
            return len(value)
    raise Unsure


def _item(value: Any, index: int) -> Any:
    if value.__class__ is list and index < len(value):
        return _scalar(value[index])
    raise Unsure


def _is_true(value: Any) -> bool:
    return value.__class__ is dict or value.__class__ is list or bool(value)


def _checked(value: Any) -> Any:
    if value.__class__ is int or value.__class__ is float:
        return value
    raise Unsure


def _number(value: Any) -> Any:
    """A result of arithmetic, if JavaScript has the same. Whole numbers are integers here."""
    if value.__class__ is float:
        if not math.isfinite(value):
            raise Unsure
        if not value.is_integer():
            return value
        value = int(value)
    if not -_SAFE <= value <= _SAFE:
        raise Unsure
    return value


# -- operators ---------------------------------------------------------------------------------------------------------


def _add(left: Any, right: Any) -> Any:
    if left.__class__ is str or right.__class__ is str:
        return _joined(left, right)
    return _number(_checked(left) + _checked(right))


def _joined(left: Any, right: Any) -> str:
    made = _text(left) + _text(right)
    if len(made) > _TEXT_MAX:
        raise Unsure
    return made


def _text(value: Any) -> str:
    if value.__class__ is str:
        return str(value)
    if value.__class__ is int:
        return str(value)
    raise Unsure


def _arithmetic(operation: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda left, right: _number(operation(_checked(left), _checked(right)))


def _divide(left: Any, right: Any) -> Any:
    if not _checked(right):
        raise Unsure
    return _number(_checked(left) / right)


def _modulo(left: Any, right: Any) -> Any:
    """The sign is that of the left operand."""
    if not _checked(right):
        raise Unsure
    return _number(math.fmod(_checked(left), right))


def _ordered(operation: Callable[[Any, Any], Any]) -> Callable[[Any, Any], bool]:
    def compare(left: Any, right: Any) -> bool:
        if left.__class__ is str and right.__class__ is str:
            if len(left) > _TEXT_MAX or len(right) > _TEXT_MAX or not (left.isascii() and right.isascii()):
                raise Unsure  # JavaScript orders by UTF-16 units.
            return bool(operation(left, right))
        return bool(operation(_checked(left), _checked(right)))

    return compare


def _same(left: Any, right: Any) -> bool:
    """`===`."""
    if left.__class__ in _COLLECTIONS or right.__class__ in _COLLECTIONS:
        raise Unsure
    if left.__class__ in _NUMBERS and right.__class__ in _NUMBERS:
        return bool(left == right)
    return left.__class__ is right.__class__ and bool(left == right)


def _equal(left: Any, right: Any) -> bool:
    """`==`: only without conversion."""
    if left is None or right is None:
        return left is right
    if left.__class__ is right.__class__ or (left.__class__ in _NUMBERS and right.__class__ in _NUMBERS):
        return _same(left, right)
    raise Unsure


_CONVERTED = (Decimal, date, time, timedelta, UUID)
_NUMBERS = (int, float)
_COLLECTIONS = (list, dict)
_OPERATIONS: Mapping[str, Callable[[Any, Any], Any]] = {
    "+": _add,
    "-": _arithmetic(operator.sub),
    "*": _arithmetic(lambda left, right: float(left) * float(right)),
    "/": _divide,
    "%": _modulo,
    "<": _ordered(operator.lt),
    ">": _ordered(operator.gt),
    "<=": _ordered(operator.le),
    ">=": _ordered(operator.ge),
    "===": _same,
    "!==": lambda left, right: not _same(left, right),
    "==": _equal,
    "!=": lambda left, right: not _equal(left, right),
}
