"""Remedies for types that cannot be stored."""

from __future__ import annotations

import collections
import io
import types
from collections.abc import AsyncIterator, Iterator
from datetime import date, datetime, time
from pathlib import PurePath

NAIVE = "Give it a time zone: datetime.now(UTC), or value.replace(tzinfo=UTC) if it is meant as UTC."
TOO_DEEP = "It contains itself or is nested deeper than 100 levels. Keep identifiers instead of back references."
TOO_LARGE = "It has more than a million items. Store it in a file or a database and keep its identifier."
UNREGISTERED = "Register its class, so that it can be decoded: Holdfast(types=[…]) or a plugin ('{name}')."

_GENERAL = (
    "Use plain data: numbers, text, bytes, aware datetimes, UUIDs, enums, lists, dicts, dataclasses, msgspec Structs, "
    "pydantic models or exceptions; for anything else keep an identifier."
)

_BY_BASE: tuple[tuple[type | tuple[type, ...], str], ...] = (
    (types.CoroutineType, "Await it first and keep its result."),
    (AsyncIterator, "Collect it first: [item async for item in value]."),
    (types.GeneratorType, "Collect it first: list(value)."),
    ((types.FunctionType, types.MethodType, types.BuiltinFunctionType, type), "Keep its name instead."),
    (types.ModuleType, "Import it where it is used instead."),
    (io.IOBase, "Keep the file's path, or its content as bytes."),
    (PurePath, "Keep it as text: str(value)."),
    ((bytearray, memoryview), "Keep it as bytes: bytes(value)."),
    (dict, "Keep it as a plain dict: dict(value)."),
    ((list, collections.deque), "Keep it as a plain list: list(value)."),
    (tuple, "Keep it as a plain tuple: tuple(value)."),
    ((set, frozenset), "Keep it as a plain set: set(value)."),
    (datetime, "Keep it as a datetime of the standard library."),
    ((date, time), "Keep it as a date or time of the standard library."),
    (str, "Keep it as plain text: str(value)."),
    (bytes, "Keep it as plain bytes: bytes(value)."),
    (int, "Keep it as a plain number: int(value)."),
    (float, "Keep it as a plain number: float(value)."),
    (Iterator, "Collect it first: list(value)."),
)


def remedy_for(cls: type) -> str:
    for base, remedy in _BY_BASE:
        if issubclass(cls, base):
            return remedy
    return _GENERAL
