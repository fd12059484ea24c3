"""What stands around the routes: Studio, base path, mounting, headers, errors, the OpenAPI document."""

from __future__ import annotations

import asyncio
import importlib.util
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from fastapi import FastAPI

from holdfast.engine import Holdfast
from holdfast.server import create_app
from holdfast.server.static import Studio
from tests.integration.server.conftest import Caller, Serve, served
from tests.support.server_documents import HELLO


async def test_everything_is_below_the_base_path(serve: Serve) -> None:
    api = await serve(base_path="/flows", studio=True)

    assert (await api.get("/flows/api/definitions"))["total"] == 0
    assert (await api.get("/flows/config.json"))["api"] == "/flows"
    assert b'<base href="/flows/">' in await api.get("/flows/") or b"Holdfast" in await api.get("/flows/")
    outside = await api.get("/api/definitions", expect=404)
    assert "/flows" in outside["detail"]
    made = await api.ask("POST", "/flows/api/definitions", HELLO)
    assert made.headers["Location"] == "/flows/api/definitions/hello"


async def test_it_mounts_into_an_application_of_the_user() -> None:
    engine = Holdfast(store="memory://", entry_points=False)
    outer = FastAPI()

    @outer.get("/mine")
    async def mine() -> str:
        return "mine"

    outer.mount("/engine", create_app(engine, auth=False, base_path="/engine"))
    async with engine, served(outer) as url, aiohttp.ClientSession() as session:
        api = Caller(session, url, engine, None)
        assert await api.get("/mine") == "mine"
        assert (await api.get("/engine/api/definitions"))["total"] == 0
        assert (await api.get("/engine/health/ready"))["status"] == "ok"
        assert (await api.get("/engine/api/nothing", expect=404))["code"] == "route.not_found"
    assert not engine.is_open


async def test_the_example_of_mounting_runs(root: Path) -> None:
    spec = importlib.util.spec_from_file_location("mounted", root / "examples/09_fastapi.py")
    assert spec is not None
    assert spec.loader is not None
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)

    async with served(example.app) as url, aiohttp.ClientSession() as session:
        api = Caller(session, url, example.engine, None)
        placed = await api.post("/orders/4711")
        assert placed["workflow"].endswith(placed["instance_id"])
        found = await api.until(placed["workflow"], lambda item: item["status"] == "suspended")
        assert found["correlation_id"] == "4711"


async def test_headers_protect_pages_and_answers(serve: Serve) -> None:
    api = await serve(studio=True)

    page = await api.ask("GET", "/")
    answer = await api.ask("GET", "/api/definitions")

    assert "frame-ancestors 'none'" in page.headers["Content-Security-Policy"]
    for one in (page, answer):
        assert one.headers["X-Content-Type-Options"] == "nosniff"
        assert one.headers["X-Frame-Options"] == "DENY"
    assert answer.headers["Cache-Control"] == "no-store"


async def test_other_origins_are_let_in_only_if_a_setting_says_so(serve: Serve) -> None:
    closed = await serve()
    open_to_one = await serve(Holdfast(store="memory://", entry_points=False, cors_origins="https://a.example"))
    asked = {"Origin": "https://a.example", "Access-Control-Request-Method": "POST"}

    assert "Access-Control-Allow-Origin" not in (await closed.ask("GET", "/health", headers=asked)).headers
    allowed = await open_to_one.ask("OPTIONS", "/api/definitions", headers=asked)
    other = await open_to_one.ask("GET", "/health", headers={"Origin": "https://b.example"})
    assert allowed.headers["Access-Control-Allow-Origin"] == "https://a.example"
    assert "Access-Control-Allow-Origin" not in other.headers


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", "/api/nothing", 404, "route.not_found"),
        ("PATCH", "/api/definitions", 405, "method.not_allowed"),
        ("GET", "/api/instances/nobody", 404, "instance.not_found"),
        ("GET", "/api/instances?limit=0", 422, "request.invalid"),
        ("GET", "/api/instances?cursor=x", 422, "cursor.invalid"),
    ],
)
async def test_every_refusal_is_a_problem_document(api: Caller, method: str, path: str, status: int, code: str) -> None:
    answer = await api.ask(method, path)

    assert (answer.status, answer.body["code"], answer.body["status"]) == (status, code, status)
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert answer.body["title"]
    assert answer.body["detail"]


@pytest.mark.parametrize(
    ("body", "kind", "words"),
    [
        (b'{"input": ', "application/json", "not JSON: Expecting value at character 10"),
        (b'{"input": {}}', "text/plain", "Content-Type: application/json"),
        (b"[]", "application/json", "valid dictionary"),
    ],
)
async def test_a_body_that_cannot_be_read_is_told_in_words(api: Caller, body: bytes, kind: str, words: str) -> None:
    address = f"{api.url}/api/definitions/x/execute"
    async with api.session.post(address, data=body, headers={"Content-Type": kind}) as answer:
        told = await answer.json(content_type="application/problem+json")

    assert (answer.status, told["code"]) == (422, "request.invalid")
    assert told["detail"].startswith("/body: ")
    assert words in told["detail"]


@pytest.mark.parametrize("by_pieces", [False, True])
@pytest.mark.parametrize(
    "path", ["hello/execute", "workflows/execute", "hello/validate", "workflows/validate", "import"]
)
async def test_a_body_that_is_too_large_is_refused_everywhere(serve: Serve, path: str, by_pieces: bool) -> None:
    """Also where a definition is called as the door of HTTP workflows, and where nobody said how long the body is."""
    api = await serve(Holdfast(store="memory://", entry_points=False, request_bytes_max=10_000))
    body = b'{"input": "' + b"x" * 20_000 + b'"}'

    async def pieces() -> AsyncIterator[bytes]:
        for start in range(0, len(body), 4_000):
            yield body[start : start + 4_000]

    kind = "multipart/form-data; boundary=x" if path == "import" else "application/json"
    data: Any = pieces() if by_pieces else body
    answer = await api.ask("POST", f"/api/definitions/{path}", data=data, headers={"Content-Type": kind})

    assert (answer.status, answer.body["code"]) == (413, "body.too_large")


async def test_a_request_for_another_tenant_is_refused(api: Caller) -> None:
    assert (await api.ask("GET", "/api/definitions", headers={"X-Tenant-Id": ""})).status == 200
    other = await api.ask("POST", "/api/definitions/x/execute", {}, headers={"X-Tenant-Id": "acme"})
    assert (other.status, other.body["code"]) == (403, "tenant.other")


# -- Studio ------------------------------------------------------------------------------------------------------------


async def asked(studio: Studio, path: str, **headers: str) -> tuple[int, dict[str, str], bytes]:
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        return await asyncio.Event().wait()  # the other side stays, and says nothing

    scope = {
        "type": "http",
        "method": "GET",
        "path": path,
        "root_path": "",
        "headers": [(name.lower().replace("_", "-").encode(), value.encode()) for name, value in headers.items()],
    }
    await studio(scope, receive, send)
    found = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    return sent[0]["status"], found, b"".join(message.get("body", b"") for message in sent[1:])


@pytest.fixture
def studio(tmp_path: Path) -> Studio:
    (tmp_path / "assets").mkdir()
    (tmp_path / "index.html").write_text('<base href="/"><main>', encoding="utf-8")
    (tmp_path / "assets/app-1234.js").write_text("plain", encoding="utf-8")
    (tmp_path / "assets/app-1234.js.br").write_bytes(b"packed")
    (tmp_path.parent / "secret.txt").write_text("not for you", encoding="utf-8")
    return Studio("/base", tmp_path)


async def test_the_studio_answers_addresses_of_its_own_router_with_its_page(studio: Studio) -> None:
    status, headers, body = await asked(studio, "/definitions/hello")

    assert (status, headers["cache-control"]) == (200, "no-cache")
    assert body == b'<base href="/base/"><main>'


@pytest.mark.parametrize("path", ["/api/nothing", "/elsa/api/workflow-definitions", "/elsa"])
async def test_addresses_of_an_api_are_no_pages(studio: Studio, path: str) -> None:
    status, _, body = await asked(studio, path)

    assert (status, b"route.not_found" in body) == (404, True)


async def test_files_with_a_hash_stay_and_are_sent_packed_to_those_who_take_it(studio: Studio) -> None:
    _, plain, first = await asked(studio, "/assets/app-1234.js")
    _, packed, second = await asked(studio, "/assets/app-1234.js", accept_encoding="gzip, br")

    assert (plain["cache-control"], first) == ("public, max-age=31536000, immutable", b"plain")
    assert (packed["content-encoding"], second) == ("br", b"packed")
    assert packed["content-type"] == plain["content-type"]


@pytest.mark.parametrize("path", ["/assets/gone.js", "/api/x", "/workflows/x", "/health/x"])
async def test_what_is_not_there_is_404(studio: Studio, path: str) -> None:
    status, _, body = await asked(studio, path)

    assert (status, json.loads(body)["code"]) == (404, "route.not_found")


@pytest.mark.parametrize("path", ["/../secret.txt", "/assets/../../secret.txt", "/%2e%2e/secret.txt"])
async def test_no_way_leads_out_of_the_folder(studio: Studio, path: str) -> None:
    _, _, body = await asked(studio, path)

    assert b"not for you" not in body


# -- the document ------------------------------------------------------------------------------------------------------


async def test_the_document_is_served_and_names_each_operation_once(api: Caller) -> None:
    document = await api.get("/api/openapi.json")

    names = [operation["operationId"] for path in document["paths"].values() for operation in path.values()]
    assert document["openapi"].startswith("3.1")
    assert len(names) == len(set(names))


def test_the_document_of_the_studio_is_fresh(root: Path) -> None:
    spec = importlib.util.spec_from_file_location("docs_openapi", root / "docs/openapi.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)

    written = (root / "studio/openapi.json").read_text(encoding="utf-8")
    assert module.written() == written, "run: make openapi"
