"""Characters that no text column keeps (NUL, half characters), at every door that the OpenAPI document names, on a real
database: refused with a reason or taken, never a failure of the server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import aiohttp
import pytest

from holdfast.engine import Holdfast
from holdfast.errors import UnstorableText
from tests.integration.server.conftest import Caller, Serve
from tests.support.server_documents import FAILING, HELLO, WAITING

NUL = "a\0b"
HALF = "a\ud800b"
NOT_TRIED = {"/api/auth/login", "/api/auth/logout", "/api/nodes/this/pause"}


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.service("postgres"))])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/odd.db"
    url: str = request.getfixturevalue("fresh_postgres")
    return url


@pytest.fixture
async def odd(serve: Serve, store: str) -> Caller:
    api = await serve(Holdfast(store=store, entry_points=False, execute_wait="200ms"))
    for document in (HELLO, WAITING, FAILING):
        await api.post("/api/definitions", document, expect=201)
        await api.post(f"/api/definitions/{document['id']}/publish")
    await api.post("/api/definitions/waiting/execute", {"instance_id": "waiting-1"})
    return api


def filled(schema: Any, parts: dict[str, Any], depth: int = 0) -> Any:
    """A small value that fits."""
    if "$ref" in schema:
        return filled(parts[schema["$ref"].rpartition("/")[2]], parts, depth)
    for word in ("anyOf", "oneOf", "allOf"):
        if word in schema:
            return filled(schema[word][0], parts, depth)
    if "enum" in schema or "const" in schema:
        return schema.get("const", schema.get("enum", [None])[0])
    match schema.get("type"):
        case "object":
            return {name: filled(schema["properties"][name], parts, depth + 1) for name in schema.get("required", ())}
        case "array":
            return [filled(schema.get("items", {}), parts, depth + 1)] if depth < 3 else []
        case "string":
            return "2031-05-01T12:00:00Z" if schema.get("format") == "date-time" else "x"
        case "integer" | "number":
            return max(1, schema.get("minimum", 1))
        case "boolean":
            return True
    return {}


def texts(schema: Any, parts: dict[str, Any], odd: str) -> Iterator[tuple[str, Any]]:
    """Fields of a body that take text, each with the odd value in its place."""
    if "$ref" in schema:
        yield from texts(parts[schema["$ref"].rpartition("/")[2]], parts, odd)
        return
    for name, field in schema.get("properties", {}).items():
        kinds = [field, *field.get("anyOf", ())]
        if any(kind.get("type") == "string" and "format" not in kind for kind in kinds):
            yield name, odd
        elif any(kind.get("items", {}).get("type") == "string" for kind in kinds):
            yield name, [odd]
        elif not any("type" in kind or "$ref" in kind for kind in kinds) or any(
            k.get("additionalProperties") is True for k in kinds
        ):
            yield name, {odd: odd}


def requests(document: dict[str, Any]) -> Iterator[tuple[str, str, Any]]:
    """Method, address and body: one odd text at a time."""
    parts = document["components"]["schemas"]
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            if path in NOT_TRIED or not path.startswith("/api/"):
                continue
            given = operation.get("parameters", ())
            inside = [item["name"] for item in given if item["in"] == "path"]
            body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
            plain = None if body is None else filled(body, parts)
            usual = {"id": "waiting-1" if "/instances/" in path else "hello"}
            address = path
            for name in inside:
                address = address.replace(f"{{{name}}}", usual.get(name, "1"))
            for name in inside:
                odd = path
                for other in inside:
                    odd = odd.replace(f"{{{other}}}", quote(NUL) if other == name else usual.get(other, "1"))
                yield method, odd, plain
            for item in given:
                kinds = [item.get("schema", {}), *item.get("schema", {}).get("anyOf", ())]
                if item["in"] == "query" and any(
                    "string" in (k.get("type"), k.get("items", {}).get("type")) for k in kinds
                ):
                    yield method, f"{address}?{item['name']}={quote(NUL)}", plain
            if body is not None:
                known = plain if isinstance(plain, dict) else {}
                for odd in (NUL, HALF):
                    for name, value in texts(body, parts, odd):
                        yield method, address, {**known, name: value}


async def test_no_door_falls_over_odd_texts(odd: Caller) -> None:
    document = await odd.get("/api/openapi.json")
    tried = list(requests(document))
    assert len(tried) > 100

    fallen = []
    for method, address, body in tried:
        try:
            answer = await odd.ask(method.upper(), address, body)
        except aiohttp.ClientError as error:
            fallen.append(f"{method} {address} {body}: {error!r}")
            continue
        if answer.status >= 500:
            fallen.append(f"{method} {address} {body}: {answer.status} {answer.body}")
    assert not fallen, "\n".join(fallen)


@pytest.mark.parametrize("odd_text", [NUL, HALF], ids=["nul", "half"])
async def test_what_has_a_column_is_refused_and_what_has_none_is_kept(odd: Caller, odd_text: str) -> None:
    for field in ("correlation_id", "instance_id", "name"):
        refused = await odd.post("/api/definitions/waiting/dispatch", {field: odd_text}, expect=422)
        assert "Remove it" in refused["detail"]
    for field in ("id", "name"):
        await odd.post("/api/definitions", {**HELLO, "id": "new", field: odd_text}, expect=422)

    kept = await odd.post("/api/definitions/hello/execute", {"input": {"who": odd_text}})

    shown = odd_text.encode("utf-8", "backslashreplace").decode()
    assert (kept["status"], kept["outputs"]) == ("finished", {"greeting": f"Hello {shown}"})


@pytest.mark.parametrize("odd_text", [NUL, HALF], ids=["nul", "half"])
async def test_a_workflow_that_names_itself_so_has_an_incident(odd: Caller, odd_text: str) -> None:
    for number, root in enumerate(
        (
            {"type": "Correlate", "id": "go", "inputs": {"correlation_id": odd_text}},
            {"type": "SetName", "id": "go", "inputs": {"name": odd_text}},
        )
    ):
        name = f"names-{number}"
        await odd.post("/api/definitions", {"format": "holdfast/definition@1", "id": name, "root": root}, expect=201)
        failed = await odd.post(f"/api/definitions/{name}/execute", {"version": "latest"})

        assert failed["status"] == "faulted"
        assert "Remove it" in failed["incidents"][0]["message"]


async def test_embedded_starts_are_refused_alike(odd: Caller) -> None:
    runtime = odd.engine.runtime
    definition = await odd.get("/api/definitions/waiting")
    for odd_text in (NUL, HALF):
        wrong: list[dict[str, Any]] = [{"correlation_id": odd_text}, {"name": odd_text}, {"idempotency": odd_text}]
        for given in wrong:
            with pytest.raises(UnstorableText, match="Remove it"):
                await runtime.start(definition["document"], **given)
