"""Liquid's filters with cost limits, and Elsa's filters `json`, `base64`, `keys`, `date`."""

from __future__ import annotations

import base64
import functools
import json
import re
from collections.abc import Callable
from datetime import UTC, date, datetime
from typing import Any

from holdfast.expressions.budget import (
    MAX_INT_BITS,
    Budget,
    OutOfBounds,
    charge,
    check_int,
    check_items,
    check_text,
    weigh,
)

Filter = Callable[..., Any]

_SLOW = {"strip_html": 5_000, "uniq": 1_000, "newline_to_br": 50_000, "squish": 50_000, "escape_once": 50_000}
"""Filters with more than linear cost, and their maximum input length."""
_TIME_SPEC = re.compile(r"(?:[^%]|%-?[aAbBcdeDfFGHIjlmMpPRSTuUVwWxXyYzZ%])*")


def bounded(name: str, function: Filter, budget_of: Callable[[], Budget]) -> Filter:
    """The filter, charged for its input and output."""

    @functools.wraps(function)
    def run(value: Any, *args: Any, **named: Any) -> Any:
        budget = budget_of()
        charge(budget, 5)
        for given in (value, *args):
            _check_given(budget, name, given)
        _check_growth(budget, name, value, args)
        return _checked(budget, function(value, *args, **named))

    return run


def _check_given(budget: Budget, name: str, value: Any) -> None:
    if isinstance(value, range):
        check_items(budget, value.stop - value.start)
    elif isinstance(value, str):
        charge(budget, (len(value) >> 3) + 1)
    elif isinstance(value, list | tuple | dict):
        weigh(budget, value)
    longest = _SLOW.get(name)
    if longest is not None and isinstance(value, str | list | tuple | range) and len(value) > longest:
        raise OutOfBounds(f"the filter '{name}' takes at most {longest:,} characters or items")


def _check_growth(budget: Budget, name: str, value: Any, args: tuple[Any, ...]) -> None:
    """Refuse results that would be too long before they are created."""
    if name.startswith("replace") and len(args) > 1:
        old, new = str(args[0]), str(args[1])
        check_text(budget, len(str(value)) + str(value).count(old) * max(len(new) - len(old), 0))
    elif name == "join" and isinstance(value, list | tuple | range):
        between = len(str(args[0])) if args else 1
        check_text(budget, between * len(value))
    elif name == "times" and sum(map(_bits, (value, *args))) > 2 * MAX_INT_BITS:
        raise OutOfBounds("a number would be too long")


def _bits(number: Any) -> int:
    if isinstance(number, str):
        return 4 * len(number)
    return number.bit_length() if isinstance(number, int) else 0


def _checked(budget: Budget, value: Any) -> Any:
    if isinstance(value, str):
        check_text(budget, len(value))
    elif isinstance(value, int):
        check_int(budget, value)
    elif isinstance(value, list | tuple):
        check_items(budget, len(value))
    return value


def own_filters() -> dict[str, Filter]:
    return {"json": _json, "base64": _base64, "keys": _keys, "date": _date}


def _json(value: Any, *_: Any) -> str:
    return json.dumps(_undrop(value), separators=(",", ":"), ensure_ascii=False)


def _undrop(value: Any) -> Any:
    """Ranges become lists; undefined names become null."""
    if isinstance(value, range):
        return list(value)
    return value if value is None or isinstance(value, str | int | float | bool | list | dict | tuple) else None


def _base64(value: Any) -> str:
    return base64.b64encode(str(value).encode()).decode()


def _keys(value: Any) -> list[str]:
    return list(value) if isinstance(value, dict) else []


def _date(value: Any, form: Any = None) -> Any:
    moment = _moment(value)
    if moment is None or not form:
        return value
    text = str(form)
    if len(text) > 200 or _TIME_SPEC.fullmatch(text) is None:  # longer than any sensible format
        raise ValueError(f"'{text[:40]}' is not a time format; use letters such as %Y-%m-%d %H:%M")
    return moment.strftime(text)


def _moment(value: Any) -> date | None:
    if value in ("now", "today"):
        return datetime.now(UTC)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return datetime.fromtimestamp(value, UTC)
    try:
        return datetime.fromisoformat(value) if isinstance(value, str) and len(value) < 100 else None
    except ValueError:
        return None
