"""Requests in process, and what becomes of answers."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast.client import AsgiWire, Client, SyncClient
from holdfast.client.calls import flat, path_of
from holdfast.errors import HoldfastError, RequestRefused, ServerUnavailable, StoreMisconfigured


def app_answering(status: int, body: bytes, *, fail: bool = False) -> Any:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            assert (await receive())["type"] == "lifespan.startup"
            await send({"type": "lifespan.startup.complete"})
            assert (await receive())["type"] == "lifespan.shutdown"
            await send({"type": "lifespan.shutdown.complete"})
            return
        request = await receive()
        app.seen = (scope["method"], scope["path"], scope["query_string"], dict(scope["headers"]), request["body"])  # type: ignore[attr-defined]
        await send({"type": "http.response.start", "status": status, "headers": [(b"Content-Type", b"x")]})
        await send({"type": "http.response.body", "body": body})
        if fail:
            raise RuntimeError("after the answer")

    return app


async def test_a_call_carries_path_query_body_and_credentials() -> None:
    app = app_answering(200, b'{"stimulus_id": "s1"}')
    async with Client(AsgiWire(app), api_key="k", tenant="acme") as client:
        receipt = await client.send_event("order placed", {"n": 1}, idempotency_key="once")
    assert receipt.stimulus_id == "s1"
    method, path, _, headers, body = app.seen
    assert (method, path) == ("POST", "/api/events/order placed")  # Decoded, as a server hands it over.
    assert headers[b"x-api-key"] == b"k"
    assert headers[b"x-tenant-id"] == b"acme"
    assert headers[b"idempotency-key"] == b"once"
    assert b'"n":1' in body


async def test_a_problem_is_an_error_with_its_code_and_remedy() -> None:
    problem = b'{"status": 409, "code": "instance.ended", "detail": "It has ended. Start a new one.", "errors": [1]}'
    async with Client(AsgiWire(app_answering(409, problem))) as client:
        with pytest.raises(RequestRefused, match=r"Start a new one\.") as caught:
            await client.instances.get("x")
    assert (caught.value.status, caught.value.code, caught.value.errors) == (409, "instance.ended", (1,))


@pytest.mark.parametrize(("status", "body"), [(502, b"<html>"), (500, b""), (200, b"<html>")])
async def test_an_answer_that_is_none_of_ours_is_said_to_be(status: int, body: bytes) -> None:
    async with Client(AsgiWire(app_answering(status, body))) as client:
        with pytest.raises(RequestRefused) as caught:
            await client.instances.get("x")
    assert caught.value.status == status


async def test_what_an_application_raises_after_its_answer_is_not_the_callers() -> None:
    app = app_answering(500, b'{"code": "internal", "detail": "See the log."}', fail=True)
    async with Client(AsgiWire(app)) as client:
        with pytest.raises(RequestRefused, match="See the log"):
            await client.instances.get("x")


async def test_a_failing_start_is_told() -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "lifespan.startup.failed", "message": "no store"})

    with pytest.raises(ServerUnavailable, match="no store"):
        async with Client(AsgiWire(app)):
            pass


async def test_what_ended_a_start_is_raised_as_it_was() -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "lifespan.startup.failed", "message": "Traceback …"})  # As Starlette does it.
        raise StoreMisconfigured("no such folder")

    with pytest.raises(StoreMisconfigured, match="no such folder"):
        async with Client(AsgiWire(app)):
            pass


async def test_a_server_that_is_not_there_is_named() -> None:
    async with Client("http://127.0.0.1:1") as client:
        with pytest.raises(ServerUnavailable, match="holdfast serve"):
            await client.instances.list()


def test_queries_repeat_lists_and_leave_out_none() -> None:
    assert flat({"status": ["a", "b"], "search": None, "mine": True, "limit": 5}) == [
        ("status", "a"),
        ("status", "b"),
        ("mine", "true"),
        ("limit", "5"),
    ]


def test_places_hold_any_character() -> None:
    assert path_of("definitions", "a/b c", "publish") == "/definitions/a%2Fb%20c/publish"


async def test_a_client_that_is_not_open_says_so() -> None:
    with pytest.raises(HoldfastError, match="async with Client"):
        await Client("http://127.0.0.1:1").instances.list()
    with pytest.raises(HoldfastError, match="with SyncClient"):
        SyncClient("http://127.0.0.1:1").instances.list()


def test_a_client_without_an_event_loop_asks_the_same() -> None:
    app = app_answering(200, b'{"stimulus_id": "s1"}')
    with SyncClient(AsgiWire(app), api_key="k") as client:
        assert client.send_event("placed", {"n": 1}).stimulus_id == "s1"
    with SyncClient(AsgiWire(app_answering(200, b'{"items": [], "total": 0}'))) as client:
        assert list(client.instances.all()) == []
    refusing = SyncClient(AsgiWire(app_answering(404, b'{"code": "x", "detail": "No."}')))
    with refusing as client, pytest.raises(RequestRefused, match="No"):
        client.instances.get("x")
