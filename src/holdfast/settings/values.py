"""Parsers of setting values: durations, numbers, text, booleans."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any

from msgspec import Struct

from holdfast.model import durations

__all__ = ["KINDS", "Kind", "parse_duration"]


def _whole(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise TypeError(value)
    return int(value)


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise TypeError(value)
    return float(value)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(value)
    return value


def _flag(value: Any) -> bool:
    words = {"true": True, "1": True, "yes": True, "on": True, "false": False, "0": False, "no": False, "off": False}
    if isinstance(value, bool):
        return value
    if not isinstance(value, str) or value.lower() not in words:
        raise ValueError(value)
    return words[value.lower()]


_UNITS = {"us": "microseconds", "ms": "milliseconds", "s": "seconds", "m": "minutes", "h": "hours", "d": "days"}
_SHORT = re.compile(r"(?P<number>\d+(?:\.\d+)?)\s*(?P<unit>us|ms|s|m|h|d)")


def parse_duration(value: Any) -> timedelta:
    """`5ms`, `10s`, `5m`, `2h`, `1d`, ISO 8601 without months and years, or a timedelta; above zero."""
    duration = value if isinstance(value, timedelta) else _written_duration(_text(value).strip())
    if duration <= timedelta(0):
        raise ValueError(value)
    return duration


def _written_duration(text: str) -> timedelta:
    short = _SHORT.fullmatch(text)
    if short:
        return timedelta(**{_UNITS[short["unit"]]: float(short["number"])})
    return durations.parse_duration(text)


class Kind(Struct, frozen=True):
    words: str
    parse: Callable[[Any], Any]


KINDS: Mapping[Any, Kind] = {
    timedelta: Kind("a duration such as 5ms, 10s, 5m, 2h, 1d or PT1M30S", parse_duration),
    int: Kind("a whole number", _whole),
    float: Kind("a number", _number),
    str: Kind("text", _text),
    bool: Kind("true or false", _flag),
}
