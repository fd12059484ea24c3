"""No body is read before its caller is admitted: each route with a body, asked without one."""

from __future__ import annotations

import encodings
import re
from typing import Any

import pytest
from fastapi.routing import APIRoute

from holdfast.engine import Holdfast
from holdfast.server.app import _routes
from holdfast.server.security import PUBLIC, permissions_of
from tests.integration.server.conftest import Serve
from tests.support.raw_http import RawClient, exchanged

WITH_BODY = [
    (method, re.sub(r"\{[^}]*\}", "x", route.path))
    for route in _routes()
    if isinstance(route, APIRoute) and route.body_field is not None and PUBLIC not in permissions_of(route)
    for method in sorted(route.methods or ())
]
CREDENTIALS = [b"", b"Authorization: Bearer nonsense\r\n", b"X-Api-Key: hfk_0000_0000\r\n"]


def unfinished(method: str, path: str, more: bytes = b"", kind: bytes = b"application/json") -> bytes:
    """A request that announces a body and sends none of it."""
    head = f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100\r\n"
    return head.encode() + b"Content-Type: " + kind + b"\r\n" + more + b"\r\n"


async def test_no_route_waits_for_the_body_of_a_stranger(serve: Serve) -> None:
    api = await serve(auth=True)
    assert len(WITH_BODY) > 30

    for method, path in WITH_BODY:
        for credentials in CREDENTIALS:
            answer = await exchanged(api.url, unfinished(method, path, credentials))
            assert (answer.status, answer.code) == (401, "access.not_signed_in"), f"{method} {path}"


async def test_no_route_waits_for_the_body_of_a_caller_without_permission(serve: Serve) -> None:
    api = await serve(auth=True)
    accounts = api.app.backend.accounts
    await accounts.roles.put("nothing", [])
    _, key = await accounts.keys.add("nothing", roles=["nothing"])

    for method, path in WITH_BODY:
        if path.startswith("/api/auth/"):  # for every signed-in caller
            continue
        answer = await exchanged(api.url, unfinished(method, path, f"X-Api-Key: {key}\r\n".encode()))
        assert (answer.status, answer.code) == (403, "access.denied"), f"{method} {path}"


async def test_a_forged_link_is_refused_before_its_body(serve: Serve) -> None:
    api = await serve(auth=True)

    answer = await exchanged(api.url, unfinished("POST", "/api/bookmarks/resume?t=forged"))

    assert answer.status == 401


@pytest.mark.parametrize("path", ["/api/auth/login", "/api/auth/refresh"])
async def test_open_routes_read_little(serve: Serve, path: str) -> None:
    api = await serve(Holdfast(store="memory://", entry_points=False, anonymous_request_bytes_max=1_000), auth=True)

    answer = await api.ask("POST", path, {"user": "x" * 2_000, "password": "x"})

    assert (answer.status, answer.body["code"]) == (413, "body.too_large")


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        (b"[" * 50_000, 400, "json.too_deep"),
        (b'{"user":' + b"[" * 500 + b"]" * 500 + b"}", 400, "json.too_deep"),
        (b"[" + b"1," * 300_000 + b"1]", 413, "json.too_many_values"),
        (b'{"user": "\xff"}', 400, "request.malformed"),
        (b"{", 422, "request.invalid"),
    ],
)
async def test_json_of_strangers_is_limited(serve: Serve, body: bytes, status: int, code: str) -> None:
    api = await serve(Holdfast(store="memory://", entry_points=False, json_values_max=200_000), auth=True)

    answer = await api.ask("POST", "/api/auth/login", data=body, headers={"Content-Type": "application/json"})

    assert (answer.status, answer.body["code"]) == (status, code)


CHARSETS = ["punycode", "idna", "utf-7", "unknown-1", "utf-8; charset=punycode", "'utf-8'", "cp037", "unicode_escape"]


@pytest.mark.parametrize("charset", CHARSETS)
@pytest.mark.parametrize("path", ["/api/definitions/import", "/api/auth/login", "/workflows/open"])
async def test_a_charset_outside_the_list_is_refused_by_its_header(serve: Serve, path: str, charset: str) -> None:
    api = await serve(auth=True)
    kind = f"multipart/form-data; boundary=x; charset={charset}".encode()

    answer = await exchanged(api.url, unfinished("POST", path, kind=kind))

    assert (answer.status, answer.code) == (415, "body.charset")
    assert b"utf-8, " in answer.body


async def test_unknown_charsets_leave_nothing_behind(serve: Serve) -> None:
    api = await serve(auth=True)
    before = len(encodings._cache)

    async with RawClient.connected(api.url) as client:
        for number in range(500):
            kind = f"text/plain; charset=unknown-{number}".encode()
            await client.send(unfinished("POST", "/workflows/open", kind=kind) + b"x" * 100)
            assert (await client.answer()).status == 415

    assert len(encodings._cache) == before


async def test_fields_and_files_of_a_form_are_counted(serve: Serve) -> None:
    api = await serve(Holdfast(store="memory://", entry_points=False, form_parts_max=3))

    def form(count: int) -> Any:
        parts = "".join(f'--x\r\nContent-Disposition: form-data; name="f{n}"\r\n\r\n1\r\n' for n in range(count))
        return (parts + "--x--\r\n").encode()

    kind = {"Content-Type": "multipart/form-data; boundary=x"}
    assert (await api.ask("POST", "/api/definitions/import", data=form(4), headers=kind)).status == 400
    assert (await api.ask("POST", "/api/definitions/import", data=form(3), headers=kind)).status == 422
