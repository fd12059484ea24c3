"""The client's types are generated from the server's OpenAPI document."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from docs.client_types import TARGET, client_types
from holdfast import Holdfast
from holdfast.client import types as t
from holdfast.server.app import make_api
from holdfast.server.backend import Backend

STRUCTS = [item for item in vars(t).values() if isinstance(item, type) and issubclass(item, msgspec.Struct)]
STRUCTS = [item for item in STRUCTS if item not in (msgspec.Struct, t.Page)]


@pytest.fixture(scope="module")
def schemas() -> dict[str, Any]:
    api = make_api(Backend(Holdfast(store="memory://"), auth=False))
    found: dict[str, Any] = api.openapi()["components"]["schemas"]
    return found


@pytest.mark.parametrize("kind", STRUCTS, ids=lambda kind: kind.__name__)
def test_every_field_is_one_of_the_api(kind: type[msgspec.Struct], schemas: dict[str, Any]) -> None:
    told = schemas[kind.__name__]
    ours = {field.encode_name: field for field in msgspec.structs.fields(kind)}
    assert ours.keys() <= told["properties"].keys()
    needed = {name for name, field in ours.items() if field.required}
    assert needed <= set(told.get("required", ())), "the client insists on a field that the server may leave out"


def test_the_generated_module_is_current(root: Path) -> None:
    document = json.loads((root / "studio/openapi.json").read_text(encoding="utf-8"))

    assert client_types(document) == TARGET.read_text(encoding="utf-8"), "run: make openapi"


SCHEMAS = {
    "Page_Line_": {
        "properties": {
            "items": {"type": "array", "items": {"$ref": "#/components/schemas/Line"}},
            "total": {"type": "integer"},
        },
        "required": ["items", "total"],
    },
    "Line": {
        "description": "One line.",
        "properties": {
            "from": {"type": "string"},
            "kind": {"type": "string", "enum": ["a", "b"], "default": "a"},
            "at": {"anyOf": [{"type": "string", "format": "date-time"}, {"type": "null"}], "description": "In UTC."},
            "parts": {"type": "array", "items": {"$ref": "#/components/schemas/Part"}},
            "extra": {"anyOf": [{"type": "object", "additionalProperties": {"type": "number"}}, {"type": "null"}]},
            "main": {"$ref": "#/components/schemas/Part"},
            "either": {"anyOf": [{"$ref": "#/components/schemas/Part"}, {"type": "string"}]},
        },
        "required": ["from"],
    },
    "Part": {"properties": {"name": {"type": "boolean"}}, "required": ["name"]},
    "Unused": {"properties": {}},
}

LINE = '''class Line(Struct, frozen=True, kw_only=True):
    """One line."""

    from_: str = field(name="from")
    kind: str = "a"
    at: datetime | None = None
    """In UTC."""
    parts: list[Part] = []
    extra: dict[str, float] | None = None
    main: Part | None = None
    either: Any = None
'''


def test_a_schema_becomes_a_struct(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "calls.py").write_text("read(t.Page[t.Line])\n")
    monkeypatch.setattr("docs.client_types.CLIENT", tmp_path)

    text = client_types({"components": {"schemas": SCHEMAS}})

    assert LINE in text
    assert "class Part(" in text, "schemas that a schema refers to are included"
    assert "class Unused(" not in text
    assert "    items: list[T]\n" in text
    assert "from msgspec import Struct, field\n" in text
