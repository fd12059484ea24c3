"""Conversion of an object to a class, with one problem per mismatching field."""

from __future__ import annotations

import re
from typing import Any

from holdfast.errors import UnknownValueType
from holdfast.model.pointers import pointer
from holdfast.model.problem import Problem
from holdfast.model.types.conversion import convert
from holdfast.model.types.schemas import class_schema
from holdfast.model.values import TypeRegistry

__all__ = ["shaped"]

_PLACE = re.compile(r"^(?P<message>.*?)(?: - at `\$(?P<path>[^`]*)`)?$", re.DOTALL)
_MISSING = re.compile(r"missing required field `(?P<name>[^`]*)`")
_STEP = re.compile(r"\.?([^.\[\]]+)")
_NOTHING = "The payload is missing."


def shaped(value: Any, type_name: str, types: TypeRegistry) -> tuple[Any, list[Problem]]:
    """The value converted leniently to that class, or None with the problems. Raises `UnknownValueType` if the class is not
    registered."""
    if types.find(type_name) is None:
        raise UnknownValueType(type_name)
    try:
        found = convert(value, type_name, types)
    except ValueError as error:
        return None, [_problem(*found, type_name, types) for found in _positions(error)]
    return found, [] if found is not None else [_problem("", _NOTHING, type_name, types)]


def _positions(error: ValueError) -> list[tuple[str, str]]:
    """Positions and messages. The cause comes from msgspec, pydantic or a `__post_init__`."""
    cause = error.__cause__
    if cause is None:
        return [("", str(error))]
    listed = getattr(cause, "errors", None)
    if callable(listed):
        return [(pointer("", *map(str, item["loc"])), _sentence(item["msg"])) for item in listed()]
    found = _PLACE.match(str(cause))
    assert found is not None
    steps = _STEP.findall(found["path"] or "")
    missing = _MISSING.search(found["message"])
    if missing is not None:
        return [(pointer("", *steps, missing["name"]), "The field is missing.")]
    return [(pointer("", *steps), _sentence(found["message"]))]


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?")) else f"{text}."


def _problem(path: str, message: str, type_name: str, types: TypeRegistry) -> Problem:
    return Problem(path=path, code="event-shape", message=message, remedy=_fields(type_name, types))


def _fields(type_name: str, types: TypeRegistry) -> str:
    cls = types.find(type_name)
    assert cls is not None
    schema = class_schema(cls)
    schema = schema.get("$defs", {}).get(str(schema.get("$ref", "")).rpartition("/")[2], schema)
    required = schema.get("required", ())
    fields = [
        f"{name} ({_kind(item)}{'' if name in required else ', optional'})"
        for name, item in schema.get("properties", {}).items()
    ]
    article = "An" if cls.__name__[:1] in "AEIOU" else "A"
    if fields:
        return f"{article} {cls.__name__} has: {', '.join(fields)}."
    choices = schema.get("enum")
    return f"{article} {cls.__name__} is one of {', '.join(map(str, choices))}." if choices else ""


def _kind(schema: dict[str, Any]) -> str:
    found = schema.get("format") or schema.get("type")
    if isinstance(found, list):
        return " or ".join(map(str, found))
    if found is None and "anyOf" in schema:
        return " or ".join(_kind(item) for item in schema["anyOf"])
    return str(found or str(schema.get("$ref", "any")).rpartition("/")[2])
