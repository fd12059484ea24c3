"""Generator of `src/holdfast/client/types.py` from the OpenAPI document: `make openapi` runs it.

The module has a Struct for each schema that the client names as `t.…`, and for the schemas that those refer to.
Enumerations become `str`, so that a client accepts the values of a newer server.
"""

from __future__ import annotations

import ast
import keyword
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

CLIENT = Path(__file__).parent.parent / "src" / "holdfast" / "client"
TARGET = CLIENT / "types.py"
WIDTH = 120

HEADER = '''"""Types of the server's responses, generated from its OpenAPI document by `make openapi`. Do not edit.

Fields that a newer server adds are skipped.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, Generic, TypeVar

from msgspec import Struct{imports}

T = TypeVar("T")
'''

Schema = Mapping[str, Any]

_SCALARS = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}


def client_types(document: Mapping[str, Any]) -> str:
    """The text of the module."""
    schemas: Mapping[str, Schema] = document["components"]["schemas"]
    names = _closure(_named_by_client(), schemas)
    page = next(schema for name, schema in sorted(schemas.items()) if name.startswith("Page_"))
    classes = [_page(page), *(_class(name, schemas[name]) for name in names)]
    body = "\n\n\n".join(classes)
    imports = ", field" if "field(name=" in body else ""
    return f"{HEADER.format(imports=imports)}\n\n{body}\n"


# -- selection ---------------------------------------------------------------------------------------------------------


def _named_by_client() -> set[str]:
    """Names that modules of the client use as `t.Name`."""
    return {
        node.attr
        for path in CLIENT.glob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "t"
    } - {"Page"}


def _closure(names: set[str], schemas: Mapping[str, Schema]) -> list[str]:
    """The schemas and all schemas that they refer to, sorted by name."""
    found: set[str] = set()
    waiting = sorted(names)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting.extend(_references(schemas[name]))
    return sorted(found)


def _references(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        if isinstance(value.get("$ref"), str):
            yield _referred(value)
        for item in value.values():
            yield from _references(item)
    elif isinstance(value, list):
        for item in value:
            yield from _references(item)


def _referred(schema: Schema) -> str:
    return str(schema["$ref"]).rpartition("/")[2]


# -- classes -----------------------------------------------------------------------------------------------------------


def _page(schema: Schema) -> str:
    """The one generic class: OpenAPI has a copy of it per item type."""
    items = {**schema["properties"]["items"], "items": {"$ref": "T"}}
    generic = {**schema, "properties": {**schema["properties"], "items": items}}
    return _class("Page", generic, bases="Struct, Generic[T]")


def _class(name: str, schema: Schema, bases: str = "Struct") -> str:
    lines = [f"class {name}({bases}, frozen=True, kw_only=True):"]
    if schema.get("description"):
        lines += [*_docstring(schema["description"]), ""]
    required = schema.get("required", ())
    for key, field in schema["properties"].items():
        lines += _field(key, field, required=key in required)
    return "\n".join(lines)


def _field(key: str, schema: Schema, *, required: bool) -> Iterator[str]:
    kind = _type(schema)
    default = "" if required else _default(schema, kind)
    if not required and default == "None" and "None" not in kind.split(" | ") and kind != "Any":
        kind = f"{kind} | None"
    if keyword.iskeyword(key):
        given = f", default={default}" if default else ""
        yield f'    {key}_: {kind} = field(name="{key}"{given})'
    else:
        yield f"    {key}: {kind} = {default}" if default else f"    {key}: {kind}"
    if schema.get("description"):
        yield from _docstring(schema["description"])


def _default(schema: Schema, kind: str) -> str:
    if "default" in schema:
        value = schema["default"]
        return f'"{value}"' if isinstance(value, str) else repr(value)
    if kind.endswith("| None"):
        return "None"
    return {"list": "[]", "dict": "{}"}.get(kind.partition("[")[0], "None")


def _type(schema: Schema) -> str:
    if "$ref" in schema:
        return _referred(schema)
    if "anyOf" in schema:
        return _union([_type(item) for item in schema["anyOf"]])
    kind = schema.get("type")
    if kind == "array":
        return f"list[{_type(schema.get('items', {}))}]"
    if kind == "object":
        values = schema.get("additionalProperties", True)
        return f"dict[str, {'Any' if values is True else _type(values)}]"
    if kind == "string" and schema.get("format") == "date-time":
        return "datetime"
    return _SCALARS.get(str(kind), "Any")


def _union(kinds: list[str]) -> str:
    """Without duplicates, None last. msgspec allows one kind of object in a union: others are plain data."""
    distinct = list(dict.fromkeys(kind for kind in kinds if kind != "None"))
    if len(distinct) > 1 and not set(distinct) <= {"str", "int", "float", "bool"}:
        return "Any"
    return " | ".join([*distinct, *(["None"] if "None" in kinds else [])])


def _docstring(text: str) -> list[str]:
    plain = " ".join(text.split()).replace("\\", "\\\\")
    return textwrap.wrap(
        f'"""{plain}"""', WIDTH, initial_indent="    ", subsequent_indent="    ", break_on_hyphens=False
    )
