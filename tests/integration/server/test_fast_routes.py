"""The hot doors answer as the routes of the same address do."""

from __future__ import annotations

import asyncio
import json
import re
from typing import Any

import pytest

from holdfast.engine import Holdfast
from holdfast.server import create_app
from holdfast.server.fast_routes import FAST_ROUTES
from holdfast.server.middleware import Entrance
from holdfast.server.start_requests import Starter
from tests.support.server_documents import FAILING, HELLO, WAITING

Spoken = tuple[int, dict[str, str], Any]


async def spoken(app: Any, path: str, body: bytes, headers: dict[str, str]) -> Spoken:
    """One request by ASGI: status, headers and body, with what differs from one instance to the next blotted out."""
    sent: list[Any] = []
    waiting = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive() -> Any:
        return waiting.pop() if waiting else await asyncio.Event().wait()

    async def send(message: Any) -> None:
        sent.append(message)

    given = {"host": "127.0.0.1", "content-length": str(len(body)), **headers}
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "POST",
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "root_path": "",
        "query_string": b"",
        "headers": [(name.encode(), value.encode()) for name, value in given.items()],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 80),
    }
    await app(scope, receive, send)
    found = {name.decode().lower(): value.decode() for name, value in sent[0]["headers"]}
    raw = b"".join(message.get("body", b"") for message in sent[1:])
    return sent[0]["status"], _blotted(found), _blotted(json.loads(raw) if raw else None)


def _blotted(value: Any) -> Any:
    text = re.sub(r"[0-9A-Z]{13}", "ID", json.dumps(value, sort_keys=True))
    text = re.sub(r"t=[\w.-]+", "t=TOKEN", text)
    text = re.sub(r"\d{4}-\d\d-\d\dT[\d:.]+Z", "TIME", text)
    return json.loads(re.sub(r'"content-length": "\d+"', '"content-length": ""', text))


@pytest.fixture
async def app() -> Any:
    engine = Holdfast(store="memory://", entry_points=False)
    made = create_app(engine, auth=False, studio=False)
    await made.open()
    for document in (HELLO, WAITING, FAILING):
        await engine.runtime.definitions.save_and_publish(document)
    yield made
    await made.close()


JSON = {"content-type": "application/json"}
CASES: list[tuple[str, bytes, dict[str, str]]] = [
    ("/api/definitions/hello/execute", b"", {}),
    ("/api/definitions/hello/execute", b'{"input": {"who": "you"}, "name": "n"}', JSON),
    ("/api/definitions/hello/execute", b'{"input": {"who": 1}}', JSON),
    ("/api/definitions/hello/execute", b'{"inputs": {}}', JSON),
    ("/api/definitions/hello/execute", b"[]", JSON),
    ("/api/definitions/hello/execute", b"{", JSON),
    ("/api/definitions/hello/execute", b"null", JSON),
    ("/api/definitions/hello/execute", b"x", {"content-type": "text/plain"}),
    ("/api/definitions/hello/execute", b'{"version": 7}', JSON),
    ("/api/definitions/nobody/execute", b"{}", JSON),
    ("/api/definitions/waiting/execute", b"{}", JSON),
    ("/api/definitions/failing/execute", b"{}", JSON),
    ("/api/definitions/hello/dispatch", b'{"priority": 3, "delay": "1h"}', JSON),
    ("/api/definitions/hello/dispatch", b'{"delay": "soon"}', JSON),
    ("/api/definitions/hello/dispatch", b"{}", {**JSON, "idempotency-key": "k" * 201}),
    ("/api/events/nothing", b'{"payload": {"a": 1}}', JSON),
    ("/api/events/nothing", b'{"payload": 1, "instance_id": "nobody"}', JSON),
    ("/api/instances/nobody/resume", b"{}", JSON),
    ("/api/instances/nobody/resume", b'{"bookmark": "b1"}', JSON),
]


@pytest.mark.parametrize(("path", "body", "headers"), CASES)
async def test_a_door_and_its_route_say_the_same(
    app: Entrance, path: str, body: bytes, headers: dict[str, str]
) -> None:
    through_the_door = await spoken(app._app._app, path, body, headers)  # type: ignore[attr-defined]
    by_the_route = await spoken(app._api, path, body, headers)

    assert through_the_door == by_the_route


async def test_every_door_has_its_route(app: Entrance) -> None:
    paths = {path for path, item in app._api.openapi()["paths"].items() if "post" in item}

    for door in FAST_ROUTES:
        assert any(path.startswith(door.before) and path.endswith(door.after) for path in paths), door


async def test_without_the_permission_a_door_stays_shut() -> None:
    engine = Holdfast(store="memory://", entry_points=False, admin_password="long-enough-1")
    made = create_app(engine, auth=True, studio=False)
    await made.open()
    try:
        for door in FAST_ROUTES:
            status, headers, body = await spoken(made, f"{door.before}x{door.after}", b"{}", JSON)
            assert (status, body["code"]) == (401, "access.not_signed_in"), door
            assert headers["www-authenticate"] == "Bearer"
    finally:
        await made.close()


async def test_what_nobody_expected_is_a_problem_document_too(app: Entrance, monkeypatch: pytest.MonkeyPatch) -> None:
    async def broken(*_: Any) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(Starter, "execute", broken)

    status, headers, body = await spoken(app, "/api/definitions/hello/execute", b"{}", JSON)

    assert (status, headers["content-type"], body["code"]) == (500, "application/problem+json", "internal")
