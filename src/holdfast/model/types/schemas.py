"""JSON Schema of type names, and type names of Python annotations."""

from __future__ import annotations

import collections.abc
import dataclasses
import types as python_types
import typing
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from typing import Any
from uuid import UUID

import msgspec

from holdfast.model.types.names import BUILT_IN, TypeName, parse_type
from holdfast.model.values import TypeRegistry
from holdfast.model.values.forms import form_of, is_pydantic
from holdfast.model.values.registry import default_name

__all__ = ["describe", "schema_of"]

Schema = dict[str, Any]

_SCHEMAS: dict[str, Schema] = {
    "any": {},
    "string": {"type": "string"},
    "integer": {"type": "integer"},
    "number": {"type": "number"},
    "decimal": {"type": ["string", "number"], "format": "decimal"},
    "boolean": {"type": "boolean"},
    "bytes": {"type": "string", "contentEncoding": "base64"},
    "datetime": {"type": "string", "format": "date-time"},
    "date": {"type": "string", "format": "date"},
    "time": {"type": "string", "format": "time"},
    "duration": {"type": "string", "format": "duration"},
    "uuid": {"type": "string", "format": "uuid"},
    "object": {"type": "object"},
    "list": {"type": "array"},
}

_NAMES: dict[Any, str] = {
    Any: "any",
    object: "any",
    str: "string",
    int: "integer",
    float: "number",
    Decimal: "decimal",
    bool: "boolean",
    bytes: "bytes",
    datetime: "datetime",
    date: "date",
    time: "time",
    timedelta: "duration",
    UUID: "uuid",
    dict: "object",
    list: "list",
    tuple: "list",
    collections.abc.Mapping: "object",
    collections.abc.MutableMapping: "object",
    collections.abc.Sequence: "list",
    collections.abc.Iterable: "list",
    collections.abc.Collection: "list",
}
_UNIONS = (typing.Union, python_types.UnionType)


def schema_of(type_name: str, types: TypeRegistry | None = None) -> Schema:
    """JSON Schema of a type by its name; an unregistered class accepts any object."""
    return _schema(parse_type(type_name), types)


def _schema(name: TypeName, types: TypeRegistry | None) -> Schema:
    if name.base == "list" and name.item is not None:
        schema: Schema = {"type": "array", "items": _schema(name.item, types)}
    elif name.base in BUILT_IN:
        schema = dict(_SCHEMAS[name.base])
    else:
        cls = types.find(name.base) if types is not None else None
        schema = class_schema(cls) if cls is not None else {"type": "object"}
    return _or_null(schema) if name.nullable and schema else schema


def _or_null(schema: Schema) -> Schema:
    return {"anyOf": [schema, {"type": "null"}]}


def class_schema(cls: type) -> Schema:
    """Inline schema of an enum, dataclass, Struct, named tuple or pydantic model."""
    if issubclass(cls, Enum):
        return {"enum": [member.value if isinstance(member.value, (str, int)) else member.name for member in cls]}
    if is_pydantic(cls):
        schema: Schema = cls.model_json_schema()  # type: ignore[attr-defined] # pydantic is not imported here
        return schema
    try:
        (found,), parts = msgspec.json.schema_components([cls], ref_template="#/$defs/{name}", schema_hook=_hook)
    except (TypeError, NameError, AttributeError):
        # The type of a part has no schema, or its annotation does not resolve.
        return {"type": "object", "title": cls.__name__}
    return {**found, "$defs": parts} if parts else found


def _hook(cls: type) -> Schema:
    if is_pydantic(cls):
        schema: Schema = cls.model_json_schema()  # type: ignore[attr-defined] # pydantic is not imported here
        return schema
    return {}


def describe(annotation: Any, types: TypeRegistry | None = None) -> tuple[str, Schema]:
    """Type name and JSON Schema of a resolved annotation. Annotations without a type name are `any`."""
    if annotation is None or annotation is type(None):
        return "any", {"type": "null"}
    name = _NAMES.get(annotation) if isinstance(annotation, collections.abc.Hashable) else None
    if name is not None:
        return name, dict(_SCHEMAS[name])
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is typing.Annotated:
        return describe(arguments[0], types)
    if origin in _UNIONS:
        return _describe_union(arguments, types)
    if origin is typing.Literal:
        return _describe_literal(arguments)
    if origin is not None:
        return _describe_generic(origin, arguments, types)
    if isinstance(annotation, typing.NewType):
        return describe(annotation.__supertype__, types)
    if isinstance(annotation, type):
        return _describe_class(annotation, types)
    return "any", {}


def _describe_union(arguments: tuple[Any, ...], types: TypeRegistry | None) -> tuple[str, Schema]:
    some = [argument for argument in arguments if argument is not type(None)]
    described = [describe(argument, types) for argument in some]
    if len(described) == 1:
        name, schema = described[0]
        return ("any", schema) if name == "any" else (f"{name.rstrip('?')}?", _or_null(schema))
    schemas = [schema for _, schema in described]
    if len(some) < len(arguments):
        schemas.append({"type": "null"})
    return "any", {"anyOf": schemas} if all(schemas) else {}


def _describe_literal(choices: tuple[Any, ...]) -> tuple[str, Schema]:
    names = {_NAMES.get(type(choice), "any") for choice in choices}
    schema = {"enum": [choice.name if isinstance(choice, Enum) else choice for choice in choices]}
    return (names.pop() if len(names) == 1 else "any"), schema


def _describe_generic(origin: Any, arguments: tuple[Any, ...], types: TypeRegistry | None) -> tuple[str, Schema]:
    name = _NAMES.get(origin)
    if name == "list" and (origin is not tuple or (len(arguments) == 2 and arguments[1] is Ellipsis)):
        item, schema = describe(arguments[0], types)
        return ("list" if item == "any" else f"list[{item}]"), {
            "type": "array",
            **({"items": schema} if schema else {}),
        }
    if name == "object":
        _, schema = describe(arguments[-1], types)
        return "object", {"type": "object", **({"additionalProperties": schema} if schema else {})}
    if name is not None:
        return name, dict(_SCHEMAS[name])
    if origin in (set, frozenset):
        _, schema = describe(arguments[0], types)
        return "any", {"type": "array", "uniqueItems": True, **({"items": schema} if schema else {})}
    return describe(origin, types)


def _describe_class(cls: type, types: TypeRegistry | None) -> tuple[str, Schema]:
    if cls in (set, frozenset):
        return "any", {"type": "array", "uniqueItems": True}
    if issubclass(cls, Enum) or form_of(cls) is not None or dataclasses.is_dataclass(cls):
        name = types.name_of(cls) if types is not None else default_name(cls)
        # A name with brackets (Page[int], a class inside a function) does not parse as a type name.
        return (name if _is_plain(name) else "any"), class_schema(cls)
    if typing.is_typeddict(cls):
        return "object", class_schema(cls)
    return "any", {}


def _is_plain(name: str) -> bool:
    try:
        return parse_type(name) == TypeName(name)
    except ValueError:
        return False
