"""`holdfast serve` as people start it: a process of its own, stopped by a signal, started again."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import pytest

from tests.support.python_process import Holdfast

PASSWORD = "good-enough-for-tests"
WAITING: dict[str, Any] = {
    "format": "holdfast/definition@1",
    "id": "waiting",
    "root": {"type": "Event", "id": "wait", "inputs": {"event_name": "go"}},
}


class Process:
    def __init__(self, popen: subprocess.Popen[str]) -> None:
        self.popen = popen
        self.said: list[str] = []
        self.url = self._address()

    def _address(self) -> str:
        assert self.popen.stdout is not None
        for line in self.popen.stdout:
            self.said.append(line)
            found = re.search(r"Holdfast at (http://\S+)", line)
            if found:
                return found[1]
        raise AssertionError(f"it ended: {self.said}")

    def line(self) -> str:
        assert self.popen.stdout is not None
        self.said.append(self.popen.stdout.readline())
        return self.said[-1]

    def ask(self, method: str, path: str, body: Any = None, token: str = "") -> tuple[int, Any]:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, method=method)
        request.add_header("Content-Type", "application/json")
        if token:
            request.add_header("Authorization", f"Bearer {token}")
        try:
            with urllib.request.urlopen(request, timeout=30) as response:
                return response.status, json.loads(response.read() or b"null")
        except urllib.error.HTTPError as error:
            with error:
                return error.code, json.loads(error.read() or b"null")

    def stop(self, number: int = signal.SIGTERM) -> int:
        self.popen.send_signal(number)
        return self.popen.wait(60)


@contextmanager
def serving(*arguments: str, folder: Path, stderr: IO[str] | None = None, **environment: str) -> Iterator[Process]:
    popen = subprocess.Popen(
        [sys.executable, "-m", "holdfast.cli", "serve", "--port", "0", *arguments],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=stderr,
        text=True,
        env={"PATH": "", "HOME": str(folder), "PYTHONUNBUFFERED": "1", **environment},
    )
    try:
        yield Process(popen)
    finally:
        if popen.poll() is None:
            popen.kill()
        popen.wait(30)
        if popen.stdout is not None:
            popen.stdout.close()


def test_it_signs_in_drains_and_keeps_what_it_has(tmp_path: Path) -> None:
    given: dict[str, Any] = {"HOLDFAST_ADMIN_PASSWORD": PASSWORD}
    with serving("--store", "sqlite:///here.db", folder=tmp_path, **given) as first:
        assert first.ask("GET", "/api/instances")[0] == 401
        _, tokens = first.ask("POST", "/api/auth/login", {"user": "admin", "password": PASSWORD})
        token = tokens["access_token"]
        assert first.ask("POST", "/api/definitions", WAITING, token)[0] == 201
        assert first.ask("POST", "/api/definitions/waiting/publish", None, token)[0] == 200
        status, started = first.ask("POST", "/api/definitions/waiting/execute", {}, token)
        assert (status, started["status"]) == (200, "suspended")
        assert first.stop() == 0
    with serving("--store", "sqlite:///here.db", folder=tmp_path, **given) as second:
        status, found = second.ask("GET", f"/api/instances/{started['instance_id']}", None, token)
        assert (status, found["status"]) == (200, "suspended")
        resumed = second.ask("POST", f"/api/instances/{started['instance_id']}/resume", {}, token)
        assert resumed[1]["status"] == "finished"
        nodes = second.ask("GET", "/api/nodes", None, token)[1]["items"]
        assert sorted(node["state"] for node in nodes) == ["left", "live"]
        assert second.stop(signal.SIGINT) == 0


def test_commands_without_a_key_are_told_of_the_option(tmp_path: Path, holdfast: Holdfast) -> None:
    with serving("--store", "sqlite:///kept.db", folder=tmp_path) as server:
        for command in (["instances", "list"], ["instances", "cancel", "x"]):
            told = holdfast(*command, "--server", server.url)
            assert told.returncode == 2
            assert "--key or HOLDFAST_API_KEY" in told.stderr
        beside = holdfast("instances", "list", "--server", f"{server.url}/api")
        assert f"no Holdfast API below {server.url}/api" in beside.stderr


def test_the_first_password_is_printed_once(tmp_path: Path) -> None:
    with serving("--store", "sqlite:///here.db", folder=tmp_path) as first:
        first.line()
        found = re.search(r"admin, password (\S+)", first.line())
        assert found is not None
        login = {"user": "admin", "password": found[1]}
        assert first.ask("POST", "/api/auth/login", login)[0] == 200
        assert first.stop() == 0
    with serving("--store", "sqlite:///here.db", folder=tmp_path) as second:
        second.line()
        assert "password" not in second.line()
        assert second.ask("POST", "/api/auth/login", login)[0] == 200


def test_workflows_that_are_named_are_published_below_the_base_path(tmp_path: Path) -> None:
    (tmp_path / "waiting.json").write_text(json.dumps(WAITING), encoding="utf-8")
    with serving(
        "waiting.json", "--store", "memory://", "--no-auth", "--base-path", "/flows", folder=tmp_path
    ) as server:
        assert server.url.endswith("/flows")
        settings = {item["name"]: item["value"] for item in server.ask("GET", "/api/settings")[1]}
        assert settings["public_url"] == server.url
        _, page = server.ask("GET", "/api/definitions")
        assert [(item["id"], item["origin"], item["is_published"]) for item in page["items"]] == [
            ("waiting", "file", True)
        ]


def test_the_documentation_site_is_served_under_docs(tmp_path: Path) -> None:
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "index.html").write_text("<h1>Guide</h1>", encoding="utf-8")
    with serving("--store", "memory://", "--no-auth", "--docs", "site", folder=tmp_path) as server:
        server.line()
        server.line()
        assert server.line().split() == ["docs", "/docs"]
        with urllib.request.urlopen(f"{server.url}/docs", timeout=30) as page:
            assert page.read() == b"<h1>Guide</h1>"


def test_two_processes_share_one_address(tmp_path: Path) -> None:
    arguments = ("--store", "sqlite:///here.db", "--no-auth", "--workers", "2")
    with serving(*arguments, folder=tmp_path) as server:
        for _ in range(10_000):
            if len([node for node in server.ask("GET", "/api/nodes")[1]["items"] if node["alive"]]) == 2:
                break
        else:
            pytest.fail("the second process did not come")
        assert server.stop() == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--no-auth", "--host", "0.0.0.0"), "binds only to this machine"),
        (("--store", "nothing://x"), "nothing"),
        (("missing.json",), "no file 'missing.json'"),
        (("--store", "memory://", "--docs", "missing"), "Build the site with `make site`"),
    ],
)
def test_what_cannot_be_served_is_told_in_plain_words(
    holdfast: Holdfast, arguments: tuple[str, ...], words: str
) -> None:
    done = holdfast("serve", "--port", "0", *arguments)

    assert done.returncode == 2
    assert words in done.stderr
    assert "Traceback" not in done.stderr


def test_the_log_is_json_with_the_events_of_instances(tmp_path: Path) -> None:
    (tmp_path / "flows").mkdir()
    (tmp_path / "flows" / "waiting.json").write_text(json.dumps(WAITING), encoding="utf-8")
    log = tmp_path / "log"
    with (
        log.open("w") as written,
        serving(
            "flows",
            *("--store", "memory://", "--no-auth", "--log-format", "json", "--log-level", "info"),
            folder=tmp_path,
            stderr=written,
        ) as server,
    ):
        _, started = server.ask("POST", "/api/definitions/waiting/execute", {})
        assert server.stop() == 0

    lines = [json.loads(line) for line in log.read_text().splitlines()]
    told = [line for line in lines if line.get("event") == "instance.started"]
    assert [line["instance_id"] for line in told] == [started["instance_id"]]


def test_a_file_that_changes_is_published_again(tmp_path: Path) -> None:
    file = tmp_path / "waiting.json"
    file.write_text(json.dumps(WAITING), encoding="utf-8")
    with serving("waiting.json", "--watch", "--store", "memory://", "--no-auth", folder=tmp_path) as server:
        file.write_text(json.dumps({**WAITING, "name": "Another"}), encoding="utf-8")
        for _ in range(2_000):
            if server.ask("GET", "/api/definitions/waiting")[1]["summary"]["published_version"] == 2:
                break
        else:
            pytest.fail("the change was not seen")


@pytest.mark.parametrize("workers", ["1", "2"])
def test_what_keeps_it_from_starting_is_told_once_and_nothing_is_published(tmp_path: Path, workers: str) -> None:
    flows = tmp_path / "flows"
    flows.mkdir()
    (flows / "good.json").write_text(json.dumps(WAITING))
    (flows / "bad.json").write_text(json.dumps({**WAITING, "id": "bad", "root": {"type": "Nonsense", "id": "x"}}))
    command = [sys.executable, "-m", "holdfast.cli", "serve", "flows", "--port", "0", "--store", "sqlite:///here.db"]

    told = subprocess.run(
        [*command, "--workers", workers], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120
    )
    listed = subprocess.run(
        [*command[:3], "definitions", "list", "--json", "--store", "sqlite:///here.db"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )

    assert (told.returncode, told.stdout) == (2, "")
    assert told.stderr.count("bad.json") == 1
    assert "Traceback" not in told.stderr
    assert json.loads(listed.stdout) == []
