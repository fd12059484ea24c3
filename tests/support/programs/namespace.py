"""Namespace of the generated workflow functions: activities, helpers and classes that record every call."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Self

from holdfast import activity
from holdfast.errors import ValueRefused
from holdfast.execution.heap import write_heap
from holdfast.model.values import TypeRegistry, copy, encode

LOG: list[str] = []
MOST_CALLS = 120


class Exhausted(BaseException):
    """The program has made enough calls: no part of it may catch this."""


class Trouble(Exception):
    def __init__(self, code: Any, why: str = "w") -> None:
        super().__init__(f"{why}:{code}")
        self.code = code


class DeepTrouble(Trouble, KeyError):
    pass


class Color(Enum):
    RED = 1
    BLUE = 2


@dataclass
class Box:
    x: Any
    items: list[Any] = field(default_factory=list)


def shown(*values: Any) -> str:
    """Values with who is who among their objects; lines of tracebacks left out."""
    document = write_heap([{"v": list(values)}], TYPES, {})
    return json.dumps(_without_lines(document), sort_keys=False)


def _without_lines(data: Any) -> Any:
    if isinstance(data, list):
        return [_without_lines(item) for item in data]
    if isinstance(data, dict):
        return {key: None if key == "lines" else _without_lines(item) for key, item in data.items()}
    return data


def note(*values: Any) -> int:
    """By value: what crosses an activity's border does not keep who is who."""
    try:
        LOG.append(json.dumps(_without_lines(encode(list(values), TYPES))))
    except ValueRefused:
        LOG.append(repr(values))
    if len(LOG) > MOST_CALLS:
        raise Exhausted
    return len(LOG)


def size(value: Any) -> int:
    if isinstance(value, int):
        return value
    return len(value) if isinstance(value, list | dict | str | tuple) else 1


def see(value: Any) -> Any:
    note("see", value)
    return value


def tick() -> int:
    return note("tick")


def push(items: list[Any], value: Any) -> list[Any]:
    note("push")
    if len(items) < 8:
        items.append(value)
    return items


def risky(value: Any) -> Any:
    number = note("risky", value)
    if (size(value) + number) % 5 == 0:
        raise DeepTrouble(value) if size(value) % 2 else ValueError("risky", value)
    return value


@activity
async def act(x: Any = 0, y: Any = 0) -> Any:
    number = note("act", x, y)
    return (size(x) * 7 + size(y) * 3 + number) % 6


@activity
async def fail(x: Any = 0) -> Any:
    number = note("fail", x)
    kind = (size(x) + number) % 6
    if kind == 0:
        raise ValueError("fail", size(x))
    if kind == 1:
        try:
            raise KeyError("inner")
        except KeyError as error:
            raise Trouble(size(x)) from error
    return kind


@activity
async def numbers(x: Any = 0) -> Any:
    note("numbers", x)
    start = size(x) % 4
    return [start, start + 1, start + 2][: start + 1]


@activity
async def table(x: Any = 0) -> Any:
    note("table", x)
    value = size(x) % 4
    return {"a": value, "b": [value], "c": value + 1}


@activity
async def same(value: Any = None) -> Any:
    note("same", value)
    return copy(value)


@dataclass
class Guard:
    """A context manager that is data."""

    tag: Any
    swallow: bool = False

    def __enter__(self) -> Self:
        note("enter", self.tag)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, traceback: object) -> bool:
        note("exit", self.tag, kind and kind.__name__)
        return self.swallow and kind is not None and issubclass(kind, ValueError)


TYPES = TypeRegistry([Trouble, DeepTrouble, Color, Box, Guard])
