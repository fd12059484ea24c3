"""A real server with the built Studio, and a real Chromium: for tests, screenshots and benchmarks."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import Queue
from threading import Thread
from typing import Any

from tests.support.services.availability import ServiceMissing

ADMIN = "admin"
PASSWORD = "harbour-lantern-42"
BUILT = Path(__file__).resolve().parents[3] / "src/holdfast/server/studio/index.html"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
BROWSER_VARIABLE = "HOLDFAST_TEST_CHROMIUM"
START_SECONDS = 60.0
FLAGS = ["--no-sandbox", "--force-color-profile=srgb", "--disable-lcd-text"]


def chromium() -> str:
    """The browser's program. Raises `ServiceMissing`."""
    if not BUILT.is_file():
        raise ServiceMissing("the Studio is not built: make studio (it needs Node.js 20 or newer)")
    found = os.environ.get(BROWSER_VARIABLE) or next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        raise ServiceMissing(f"no browser: install chromium, or name one in {BROWSER_VARIABLE}")
    return found


class Refused(Exception):
    """The server said no."""


class StudioServer:
    """`holdfast serve`, and what a program would ask of it."""

    def __init__(self, url: str, store: str = "", said: Said | None = None) -> None:
        self.url = url
        self.store = store
        self._said = said
        self._token: str | None = None

    def sign_in(self) -> None:
        self._token = self.call("POST", "/api/auth/login", {"user": ADMIN, "password": PASSWORD})["access_token"]

    def call(self, method: str, path: str, body: Any = None) -> Any:
        headers = {"Content-Type": "application/json"}
        if self._token is not None:
            headers["Authorization"] = f"Bearer {self._token}"
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data=data, headers=headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                text = answer.read()
        except urllib.error.HTTPError as error:
            log = "".join(self._said.lines[-40:]) if self._said is not None and error.code >= 500 else ""
            raise Refused(f"{method} {path}: {error.code} {error.read().decode()}\n{log}") from error
        return json.loads(text) if text else None

    def publish(self, document: dict[str, Any]) -> None:
        self.call("POST", "/api/definitions", document)
        self.call("POST", f"/api/definitions/{document['id']}/publish", {})

    def publish_again(self, document: dict[str, Any]) -> None:
        """A further version."""
        self.call("PUT", f"/api/definitions/{document['id']}", document)
        self.call("POST", f"/api/definitions/{document['id']}/publish", {})

    def execute(self, definition: str, input: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
        answer = self.call("POST", f"/api/definitions/{definition}/execute", {"input": input or {}, **more})
        assert isinstance(answer, dict)
        return answer


@contextmanager
def served(folder: Path, *arguments: str, **environment: str) -> Iterator[StudioServer]:
    """A server of our own in that folder, on a free port, signed in as its administrator."""
    store = f"sqlite:///{folder}/studio.db"
    command = [sys.executable, "-m", "holdfast.cli", "serve", "--port", "0", "--store", store]
    process = subprocess.Popen(
        [*command, *arguments],
        cwd=folder,
        env={**os.environ, "HOLDFAST_ADMIN_PASSWORD": PASSWORD, "PYTHONUNBUFFERED": "1", **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    said = Said(process)
    try:
        server = StudioServer(said.address(), store, said)
        server.sign_in()
        yield server
    finally:
        process.terminate()
        try:
            process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        said.close()


class Said:
    """What the server writes, read all the time so that it never waits for us."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.lines: list[str] = []
        self._process = process
        self._address: Queue[str | None] = Queue()
        self._reader = Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self.lines.append(line)
            if "http://" in line:
                self._address.put("http://" + line.split("http://", 1)[1].split()[0].rstrip("/"))
        self._address.put(None)

    def address(self) -> str:
        found = self._address.get(timeout=START_SECONDS)
        assert found is not None, "the server did not start:\n" + "".join(self.lines)
        return found

    def close(self) -> None:
        self._reader.join()
        assert self._process.stdout is not None
        self._process.stdout.close()
