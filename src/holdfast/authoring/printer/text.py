"""Values and calls as Python text, with the imports that they need."""

from __future__ import annotations

import keyword
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from textwrap import indent
from typing import Any
from uuid import UUID

import msgspec
from msgspec import NODEFAULT, Struct

from holdfast.errors import ConversionError
from holdfast.model.definition import Expression

WIDTH = 100
_PLAIN = (bool, int, str, bytes, type(None))
_OF_DATETIME = (datetime, date, time)


class Imports:
    """Imported names, by module."""

    def __init__(self) -> None:
        self._names: dict[str, set[str]] = {}

    def use(self, module: str, name: str) -> str:
        self._names.setdefault(module, set()).add(name)
        return name

    def lines(self) -> list[str]:
        """Import lines; the standard library comes first."""
        ours = [module for module in self._names if module.split(".")[0] == "holdfast"]
        standard = [module for module in self._names if module in ("datetime", "decimal", "uuid")]
        others = [module for module in self._names if module not in (*ours, *standard)]
        groups = [sorted(group) for group in (standard, others, ours)]
        return [line for group in groups if group for line in ("", *(self._line(module) for module in group))]

    def _line(self, module: str) -> str:
        names = sorted(self._names[module], key=lambda name: (name.islower(), name))
        line = f"from {module} import {', '.join(names)}"
        return line if len(line) <= WIDTH else f"from {module} import (\n{indent(_lines(names), '    ')}\n)"


def call(name: str, arguments: Iterable[str]) -> str:
    """On one line if it fits, else one argument per line."""
    return _enclosed(f"{name}(", [*arguments], ")")


def _enclosed(opening: str, items: Sequence[str], closing: str) -> str:
    line = f"{opening}{', '.join(items)}{closing}"
    if not items or ("\n" not in line and len(line) <= WIDTH):
        return line
    return f"{opening}\n{indent(_lines(items), '    ')}\n{closing}"


def _lines(items: Iterable[str]) -> str:
    return "\n".join(f"{item}," for item in items)


def identifier(text: str) -> str:
    """A variable name; unique only if the text is unique."""
    found = re.sub(r"\W+", "_", text).strip("_")
    found = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", found).lower()
    if not found or found[0].isdigit():
        found = f"step_{found}"
    return f"{found}_" if keyword.iskeyword(found) or keyword.issoftkeyword(found) else found


def value(data: Any, imports: Imports) -> str:
    """A literal or an expression. Values without a literal form are refused."""
    if isinstance(data, Expression):
        return _expression(data, imports)
    if isinstance(data, Enum):
        return value(data.value, imports)
    if isinstance(data, _PLAIN):
        return repr(data).replace("'", '"') if isinstance(data, str) and not set("\"'\\") & set(data) else repr(data)
    if isinstance(data, float):
        return repr(data) if math.isfinite(data) else f'float("{data}")'
    if isinstance(data, Mapping):
        return _enclosed("{", [f"{value(key, imports)}: {value(item, imports)}" for key, item in data.items()], "}")
    if isinstance(data, list):
        return _enclosed("[", [value(item, imports) for item in data], "]")
    if isinstance(data, tuple):
        inner = [value(item, imports) for item in data]
        return f"({inner[0]},)" if len(inner) == 1 else _enclosed("(", inner, ")")
    if isinstance(data, set | frozenset):
        inner = [value(item, imports) for item in sorted(data, key=repr)]
        return call(type(data).__name__, [_enclosed("[", inner, "]")] if inner else [])
    return _object(data, imports)


def _object(data: Any, imports: Imports) -> str:
    if isinstance(data, timedelta):
        return _duration(data, imports)
    if isinstance(data, _OF_DATETIME):
        kind = type(data).__name__
        return f'{imports.use("datetime", kind)}.fromisoformat("{data.isoformat()}")'
    if isinstance(data, Decimal):
        return f'{imports.use("decimal", "Decimal")}("{data}")'
    if isinstance(data, UUID):
        return f'{imports.use("uuid", "UUID")}("{data}")'
    if isinstance(data, Struct):
        return struct(data, imports)
    raise ConversionError(
        f"A value of type {type(data).__name__} cannot be written as Python. Replace it with an expression."
    )


def _duration(data: timedelta, imports: Imports) -> str:
    parts = [
        ("days", data.days),
        ("hours", data.seconds // 3600),
        ("minutes", data.seconds // 60 % 60),
        ("seconds", data.seconds % 60),
        ("microseconds", data.microseconds),
    ]
    given = [f"{name}={number}" for name, number in parts if number]
    return call(imports.use("datetime", "timedelta"), given or ["0"])


def _expression(data: Expression, imports: Imports) -> str:
    source = value(data.source, imports)
    if data.language == "python":
        return call(imports.use("holdfast", "expr"), [source])
    if data.language in ("variable", "literal"):
        return call(imports.use("holdfast", data.language), [source])
    return call(imports.use("holdfast", "expr"), [source, value(data.language, imports)])


_PUBLIC = {
    "ActivityOptions": "holdfast.api",
    "DefinitionOptions": "holdfast.api",
    "InputDeclaration": "holdfast.api",
    "JournalRule": "holdfast.api",
    "OutputDeclaration": "holdfast.api",
    "Retry": "holdfast",
    "Variable": "holdfast",
}
"""Public modules of the definition records."""


def struct(data: Struct, imports: Imports) -> str:
    """A frozen struct without its defaults."""
    cls = type(data)
    name = imports.use(_PUBLIC.get(cls.__name__, cls.__module__), cls.__name__)
    return call(name, [f"{key}={text}" for key, text in fields(data, imports)])


def fields(data: Struct, imports: Imports) -> list[tuple[str, str]]:
    """The fields that differ from their defaults."""
    found = []
    for info in msgspec.structs.fields(type(data)):
        given = getattr(data, info.name)
        default = info.default_factory() if info.default_factory is not NODEFAULT else info.default
        if info.required or given != default:
            found.append((info.name, value(given, imports)))
    return found
