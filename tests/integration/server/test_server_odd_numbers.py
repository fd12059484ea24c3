"""Numbers and moments that no store can hold are refused where they come in: each has its bounds in the OpenAPI document."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from holdfast.engine import Holdfast
from holdfast.model.listing import InstanceSort, encode_cursor
from tests.integration.server.conftest import Caller, Serve
from tests.support.server_documents import HELLO

HUGE = 10**20


def unbounded(part: Any, place: str) -> Iterator[str]:
    if isinstance(part, dict):
        if part.get("type") == "integer" and not {"maximum", "exclusiveMaximum"} & part.keys():
            yield place
        for name, inner in part.items():
            yield from unbounded(inner, f"{place}/{name}")
    elif isinstance(part, list):
        for number, inner in enumerate(part):
            yield from unbounded(inner, f"{place}/{number}")


async def test_every_number_that_is_asked_for_has_a_bound(api: Caller) -> None:
    document = await api.get("/api/openapi.json")
    asked: list[Any] = [
        (f"{method} {path}", part)
        for path, item in document["paths"].items()
        for method, operation in item.items()
        for part in operation.get("parameters", ())
    ]
    schemas = document["components"]["schemas"]
    bodies = [(name, schema) for name, schema in schemas.items() if name.endswith(("Request", "Body", "New", "Change"))]

    assert len(bodies) > 20
    assert [found for name, part in (*asked, *bodies) for found in unbounded(part, name)] == []


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", f"/api/instances?version={HUGE}", None),
        ("GET", f"/api/instances/counts?version={HUGE}", None),
        ("GET", f"/api/definitions/hello/versions/{HUGE}", None),
        ("DELETE", f"/api/definitions/hello/versions/{HUGE}", None),
        ("POST", "/api/definitions/hello/revert", {"version": HUGE}),
        ("POST", "/api/definitions/hello/execute", {"version": HUGE}),
        ("POST", "/api/definitions/hello/dispatch", {"priority": HUGE}),
        ("POST", "/api/definitions/hello/dispatch", {"priority": -HUGE}),
        ("POST", "/api/instances/bulk", {"action": "cancel", "filter": {"version": HUGE}}),
        ("POST", "/api/instances/bulk", {"action": "cancel", "filter": {"created_after": "2026-01-01T00:00:00"}}),
        ("POST", "/api/alterations", {"alterations": [{"type": "cancel"}], "filter": {"version": HUGE}}),
    ],
)
async def test_what_no_store_can_hold_is_refused(
    serve: Serve, tmp_path: Path, method: str, path: str, body: Any
) -> None:
    api = await serve(Holdfast(store=f"sqlite:///{tmp_path}/odd.db", entry_points=False))
    await api.engine.runtime.definitions.save_and_publish(HELLO)

    answer = await api.ask(method, path, body)

    assert (answer.status, answer.body["code"]) == (422, "request.invalid")


ODD_CURSORS = [
    *(encode_cursor(InstanceSort.CREATED, value, "i") for value in (2**63, 2**64 - 1, "x", True)),
    encode_cursor(InstanceSort.CREATED, 1, "i\0"),
    f"{HUGE}:x",
    f"-{HUGE}:x",
    f"{2**63 - 1}:x",
    "9" * 5_000 + ":x",
    "1:x\0",
]


async def test_cursors_that_no_store_can_hold_are_refused(serve: Serve, store_url: str) -> None:
    api = await serve(Holdfast(store=store_url, entry_points=False))

    for cursor in ODD_CURSORS:
        for path in ("/api/instances", "/api/tasks", "/api/bookmarks", "/api/dead-letters", "/api/definitions"):
            answer = await api.ask("GET", path, params={"cursor": cursor, "sort": "created"})
            assert answer.status in {200, 422}, (path, cursor[:40], answer.body)
