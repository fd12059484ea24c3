"""The client's types say what the server's OpenAPI says."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

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
