"""JSON of a request, under limits on its nesting and on the number of its values.

A document of many small values takes far more time and memory than its size suggests, and its parser cannot be interrupted. The
number of separators bounds the number of values, and counting bytes is fast.
"""

from __future__ import annotations

import json
from typing import Any

from msgspec import Struct

SEPARATORS = (b",", b":", b"[", b"{")


class JsonLimits(Struct, frozen=True, kw_only=True):
    depth: int
    values: int


class JsonRefused(Exception):
    """The body is JSON beyond the limits."""

    def __init__(self, status: int, code: str, detail: str) -> None:
        self.status = status
        self.code = code
        super().__init__(detail)


def read_json(raw: bytes, limits: JsonLimits, *, strict_numbers: bool = False) -> Any:
    """Raises `JsonRefused` beyond the limits, and `ValueError` if the text is not JSON. `strict_numbers` refuses NaN and
    Infinity."""
    check_values(raw, limits)
    try:
        value = json.loads(raw, parse_constant=_no_constant if strict_numbers else None)
    except RecursionError as error:
        raise _too_deep(limits) from error
    if raw.count(b"[") + raw.count(b"{") > limits.depth and not _is_shallow(value, limits.depth):
        raise _too_deep(limits)
    return value


def check_values(raw: bytes, limits: JsonLimits) -> None:
    """Raises `JsonRefused` if the text may hold too many values."""
    if sum(raw.count(mark) for mark in SEPARATORS) > limits.values:
        raise JsonRefused(
            413,
            "json.too_many_values",
            f"The JSON holds more than {limits.values} values. Send less, or raise the setting json_values_max.",
        )


def _no_constant(text: str) -> Any:
    raise ValueError(f"{text} is not a JSON number")


def _too_deep(limits: JsonLimits) -> JsonRefused:
    return JsonRefused(400, "json.too_deep", f"The JSON is nested deeper than {limits.depth} levels. Send it flatter.")


def _is_shallow(value: Any, depth: int) -> bool:
    level = [value]
    for _ in range(depth + 1):
        level = [
            inner
            for item in level
            if isinstance(item, list | dict)
            for inner in (item.values() if isinstance(item, dict) else item)
        ]
        if not level:
            return True
    return False
