"""Validation of answers against forms: the subset of JSON Schema that forms use, with a path per problem."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date, datetime, time
from decimal import Decimal, InvalidOperation
from typing import Any

from msgspec import json

from holdfast.model.problem import Problem
from holdfast.model.types.schemas import class_schema

Schema = Mapping[str, Any]

DEPTH_MAX = 64
"""Maximum depth, which bounds a form that refers to itself."""


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


_TYPES: dict[str, Callable[[Any], bool]] = {
    "string": lambda value: isinstance(value, str),
    "integer": lambda value: _is_number(value) and float(value).is_integer(),
    "number": _is_number,
    "boolean": lambda value: isinstance(value, bool),
    "object": lambda value: isinstance(value, Mapping),
    "array": lambda value: isinstance(value, list | tuple),
    "null": lambda value: value is None,
}
_FORMATS: dict[str, Callable[[str], object]] = {
    "date-time": datetime.fromisoformat,
    "date": date.fromisoformat,
    "time": time.fromisoformat,
    "uuid": lambda value: _matched(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}", value),
    "decimal": Decimal,
    "email": lambda value: value.index("@", 1, len(value) - 1),
}


def form_of(cls: type) -> dict[str, Any]:
    """The form of a data class, with its fields at the top level, where form renderers expect them."""
    schema = class_schema(cls)
    if set(schema) != {"$ref", "$defs"}:
        return schema
    parts = dict(schema["$defs"])
    name = str(schema["$ref"]).rpartition("/")[2]
    top = parts[name]
    if json.encode({"of": [top, *parts.values()]}).count(f'"#/$defs/{name}"'.encode()) == 0:
        del parts[name]
    return {**top, "$defs": parts} if parts else top


def check_answer(answer: Any, form: Schema | None) -> list[Problem]:
    """All mismatches, in the order of the form. Without a form any answer is valid."""
    return [] if not form else list(_Check(form).value(answer, form, "", DEPTH_MAX))


class _Check:
    def __init__(self, form: Schema) -> None:
        self._form = form

    def value(self, value: Any, schema: Any, path: str, depth: int) -> Iterator[Problem]:
        if schema is True or not depth:
            return
        if schema is False:
            yield _problem(path, "unexpected", "Nothing is expected here.")
            return
        if "$ref" in schema:
            yield from self.value(value, self._part(str(schema["$ref"])), path, depth - 1)
        yield from _type(value, schema, path)
        yield from _choices(value, schema, path)
        yield from self._combined(value, schema, path, depth)
        if isinstance(value, str):
            yield from _text(value, schema, path)
        elif _is_number(value):
            yield from _number(value, schema, path)
        elif isinstance(value, Mapping):
            yield from self._object(value, schema, path, depth)
        elif isinstance(value, list | tuple):
            yield from self._list(value, schema, path, depth)

    def _part(self, reference: str) -> Any:
        found: Any = self._form
        for step in reference.removeprefix("#").split("/")[1:]:
            found = found.get(step.replace("~1", "/").replace("~0", "~"), True) if isinstance(found, Mapping) else True
        return found

    def _combined(self, value: Any, schema: Schema, path: str, depth: int) -> Iterator[Problem]:
        for part in schema.get("allOf", ()):
            yield from self.value(value, part, path, depth - 1)
        for word in ("anyOf", "oneOf"):
            parts = schema.get(word)
            if not parts:
                continue
            tried = [list(self.value(value, part, path, depth - 1)) for part in parts]
            fitting = sum(not problems for problems in tried)
            if not fitting:
                # Report the closest alternative: the one with the deepest problem.
                yield from max(tried, key=lambda problems: max(item.path.count("/") for item in problems))
            elif fitting > 1 and word == "oneOf":
                yield _problem(path, "ambiguous", f"It matches {fitting} of the alternatives instead of one.")

    def _object(self, value: Mapping[str, Any], schema: Schema, path: str, depth: int) -> Iterator[Problem]:
        fields = schema.get("properties", {})
        for name in schema.get("required", ()):
            if name not in value:
                yield _problem(f"{path}/{_escaped(name)}", "missing", "It is required.")
        for name, item in value.items():
            where = f"{path}/{_escaped(str(name))}"
            if name in fields:
                yield from self.value(item, fields[name], where, depth - 1)
            elif (others := schema.get("additionalProperties", True)) is False:
                yield _problem(where, "unknown", f"The form has no such field; it has: {', '.join(fields) or 'none'}.")
            else:
                yield from self.value(item, others, where, depth - 1)

    def _list(self, value: Sequence[Any], schema: Schema, path: str, depth: int) -> Iterator[Problem]:
        if len(value) < schema.get("minItems", 0):
            yield _problem(path, "too-few", f"At least {schema['minItems']} are required.")
        if len(value) > schema.get("maxItems", len(value)):
            yield _problem(path, "too-many", f"At most {schema['maxItems']} are allowed.")
        if schema.get("uniqueItems") and any(item in value[:index] for index, item in enumerate(value)):
            yield _problem(path, "repeated", "Each may occur only once.")
        first = schema.get("prefixItems", ())
        for index, item in enumerate(value):
            part = first[index] if index < len(first) else schema.get("items", True)
            yield from self.value(item, part, f"{path}/{index}", depth - 1)


def _type(value: Any, schema: Schema, path: str) -> Iterator[Problem]:
    wanted = schema.get("type")
    if wanted is None:
        return
    names = [wanted] if isinstance(wanted, str) else list(wanted)
    if not any(_TYPES.get(name, lambda _: True)(value) for name in names):
        yield _problem(path, "wrong-type", f"It must be {' or '.join(names)}, not {_name_of(value)}.")


def _choices(value: Any, schema: Schema, path: str) -> Iterator[Problem]:
    if "enum" in schema and not any(_same(value, choice) for choice in schema["enum"]):
        yield _problem(path, "not-a-choice", f"Choose one of: {', '.join(map(str, schema['enum']))}.")
    if "const" in schema and not _same(value, schema["const"]):
        yield _problem(path, "not-a-choice", f"It must be {schema['const']}.")


def _text(value: str, schema: Schema, path: str) -> Iterator[Problem]:
    if len(value) < schema.get("minLength", 0):
        yield _problem(path, "too-short", f"At least {schema['minLength']} characters are required.")
    if len(value) > schema.get("maxLength", len(value)):
        yield _problem(path, "too-long", f"At most {schema['maxLength']} characters are allowed.")
    if "pattern" in schema and re.search(str(schema["pattern"]), value) is None:
        yield _problem(path, "pattern", f"It must look like {schema['pattern']}.")
    read = _FORMATS.get(str(schema.get("format")))
    if read is not None:
        try:
            read(value)
        except (ValueError, InvalidOperation):
            yield _problem(path, "format", f"It must be a {schema['format']}.")


def _number(value: float, schema: Schema, path: str) -> Iterator[Problem]:
    if value < schema.get("minimum", value):
        yield _problem(path, "too-small", f"It must be at least {schema['minimum']}.")
    if value > schema.get("maximum", value):
        yield _problem(path, "too-large", f"It must be at most {schema['maximum']}.")
    if "exclusiveMinimum" in schema and value <= schema["exclusiveMinimum"]:
        yield _problem(path, "too-small", f"It must be above {schema['exclusiveMinimum']}.")
    if "exclusiveMaximum" in schema and value >= schema["exclusiveMaximum"]:
        yield _problem(path, "too-large", f"It must be below {schema['exclusiveMaximum']}.")
    step = schema.get("multipleOf")
    if step and Decimal(str(value)) % Decimal(str(step)):
        yield _problem(path, "step", f"It must be a multiple of {step}.")


def _matched(pattern: str, value: str) -> None:
    if re.fullmatch(pattern, value) is None:
        raise ValueError(value)


def _problem(path: str, code: str, message: str) -> Problem:
    return Problem(path=path, code=code, message=message, remedy="")


def _same(value: Any, other: Any) -> bool:
    """Equality in JSON: true is not 1."""
    return value == other and isinstance(value, bool) == isinstance(other, bool)


def _name_of(value: Any) -> str:
    return next((name for name, fits in _TYPES.items() if fits(value)), type(value).__name__)


def _escaped(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")
