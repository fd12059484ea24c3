"""The example projects run as their users would run them, and are used over HTTP."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
PATIENCE_SECONDS = 60.0


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@contextmanager
def served(project: str, arguments: list[str], folder: Path, port: int) -> Iterator[httpx.Client]:
    """A server in a process of its own, ended when the block ends."""
    environment = {**os.environ, "ORDERS_FILE": str(folder / "orders.db")}
    with (folder / "server.log").open("ab") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", *arguments], cwd=EXAMPLES / project, env=environment, stdout=log, stderr=log
        )
        try:
            with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=PATIENCE_SECONDS) as client:
                until(lambda: answers(client, process))
                yield client
        finally:
            process.terminate()
            process.wait(PATIENCE_SECONDS)


def answers(client: httpx.Client, process: subprocess.Popen[bytes]) -> bool:
    assert process.poll() is None, "the server ended"
    try:
        return client.get("/orders/none").status_code == 404
    except httpx.TransportError:
        return False


def until(is_so: Callable[[], Any]) -> Any:
    """Ask again until it is so; the server tells nobody when."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not (found := is_so()):
        assert time.monotonic() < deadline, "it took too long"
        time.sleep(0.05)
    return found


def order(client: httpx.Client, name: str, status: str) -> Any:
    found = client.get(f"/orders/{name}").json()
    return found if found["status"] == status else None


@pytest.fixture(params=["fastapi_orders", "django_orders"])
def serving(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], Any]:
    def serve() -> Any:
        port = free_port()
        module = "app:app" if request.param == "fastapi_orders" else "project:application"
        return served(request.param, ["uvicorn", module, "--port", str(port)], tmp_path, port)

    return serve


def test_orders_over_http(serving: Callable[[], Any]) -> None:
    with serving() as client:
        small = client.post("/orders", json={"id": "1", "total": 20})
        large = client.post("/orders", json={"id": "2", "total": 2_000})
        bad = client.post("/orders", json={"id": "3", "total": 0})
        assert (small.status_code, large.status_code, bad.status_code) == (201, 201, 422)
        assert until(lambda: order(client, "1", "finished"))["result"] == "receipt for 1 over 20"
        until(lambda: order(client, "2", "suspended"))
        assert client.get("/orders/3").status_code == 404

    with serving() as client:  # another process: the order has survived the restart
        assert client.post("/orders/2/approval", json={"approved": True}).status_code == 202
        assert until(lambda: order(client, "2", "finished"))["result"] == "receipt for 2 over 2000"
