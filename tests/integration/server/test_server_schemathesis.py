"""Random requests against every route: no 500, and no answer that the OpenAPI document does not declare.

Seeded and short here; run longer with HOLDFAST_TEST_REQUESTS=200.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Iterator
from traceback import format_exception
from typing import Any

import pytest
import schemathesis
import uvicorn
from hypothesis import HealthCheck, Phase, given, seed, settings, strategies as st
from schemathesis.checks import CHECKS, load_all_checks

from holdfast.engine import Holdfast
from holdfast.server import create_app
from tests.support.server_documents import FAILING, HELLO, WAITING

REQUESTS = int(os.environ.get("HOLDFAST_TEST_REQUESTS", "3"))
NOT_TRIED = {"/api/auth/login", "/api/auth/logout", "/api/nodes/this/pause"}
"""Back-off, the end of a session and a node that takes no work would spoil the requests after them."""


class Serving(threading.Thread):
    """A server of its own event loop, since hypothesis calls from outside of one."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.url = ""
        self.ready = threading.Event()
        self.server: uvicorn.Server | None = None

    def run(self) -> None:
        asyncio.run(self._serve())

    async def _serve(self) -> None:
        engine = Holdfast(store="memory://", entry_points=False, execute_wait="200ms")
        app = create_app(engine, auth=False, studio=False)
        await app.open()
        for document in (HELLO, WAITING, FAILING):
            await engine.runtime.definitions.save_and_publish(document)
            await engine.runtime.inline.dispatch(_start(document["id"]))
        self.server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="error", lifespan="off"))
        serving = asyncio.create_task(self.server.serve())
        while not self.server.started:  # noqa: ASYNC110 - uvicorn sets a flag
            await asyncio.sleep(0.01)
        self.url = f"http://127.0.0.1:{self.server.servers[0].sockets[0].getsockname()[1]}"
        self.ready.set()
        await serving
        await app.close()


def _start(name: str) -> Any:
    from holdfast.model.requests import DispatchDefinition

    return DispatchDefinition(definition_id=name, instance_id=f"{name}-1")


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    thread = Serving()
    thread.start()
    assert thread.ready.wait(30)
    yield thread.url
    assert thread.server is not None
    thread.server.should_exit = True
    thread.join(30)


load_all_checks()
CHECKED = [
    CHECKS.get_one(name)
    for name in (
        "not_a_server_error",
        "status_code_conformance",
        "content_type_conformance",
        "response_schema_conformance",
    )
]


def operations(url: str) -> list[Any]:
    schema = schemathesis.openapi.from_url(f"{url}/api/openapi.json", timeout=120)
    found: list[Any] = [item.ok() for item in schema.get_all_operations()]  # type: ignore[union-attr]  # ours is valid
    return [operation for operation in found if operation.path not in NOT_TRIED]


def attempt(operation: Any) -> int:
    """Random requests to one route; how many."""
    tried = 0

    @seed(4711)
    @settings(
        max_examples=REQUESTS,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(data=st.data())
    def check(data: st.DataObject) -> None:
        nonlocal tried
        case = data.draw(operation.as_strategy())
        response = case.call(timeout=60)
        tried += 1
        case.validate_response(response, checks=CHECKED)

    check()
    return tried


def test_no_request_gets_an_answer_that_is_not_declared(url: str) -> None:
    tried, failed = 0, []
    for operation in operations(url):
        try:
            tried += attempt(operation)
        except (AssertionError, BaseExceptionGroup) as error:
            told = "".join(format_exception(error))[-3_000:]  # A group says only that there is something in it.
            failed.append(f"{operation.method} {operation.path}: {told}")
    assert not failed, "\n\n".join(failed)
    assert tried > 100
