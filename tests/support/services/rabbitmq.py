"""A RabbitMQ server of its own, in a temporary folder and on a free port, for tests that restart the broker.

It is started from the scripts of an installed server; without one `ServiceMissing` is raised.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Self
from uuid import uuid4

from tests.support.services.availability import ServiceMissing, free_port

_START = 90.0
"""Seconds that it may take to start: it is written in a language that starts slowly."""

_STOP = 30.0


class RabbitServer:
    def __init__(self) -> None:
        self._script = _script()
        self._folder = Path(tempfile.mkdtemp(prefix="holdfast-rabbit-"))
        self._process: subprocess.Popen[bytes] | None = None
        self._port = free_port()
        self._environment = self._settings(f"holdfast{uuid4().hex[:8]}@localhost")
        self.url = f"amqp://guest:guest@127.0.0.1:{self._port}/"

    def _settings(self, name: str) -> dict[str, str]:
        nothing = self._folder / "nothing"
        nothing.touch()
        settings = self._folder / "rabbitmq.conf"
        settings.write_text(f"listeners.tcp.1 = 127.0.0.1:{self._port}\n")
        plugins = self._folder / "plugins"
        plugins.write_text("[].\n")
        kept = {key: value for key, value in os.environ.items() if not key.startswith("RABBITMQ_")}
        return {
            **kept,
            "HOME": str(self._folder),
            "RABBITMQ_NODENAME": name,
            "RABBITMQ_NODE_IP_ADDRESS": "127.0.0.1",
            "RABBITMQ_NODE_PORT": str(self._port),
            "RABBITMQ_DIST_PORT": str(free_port()),
            "RABBITMQ_MNESIA_BASE": str(self._folder / "data"),
            "RABBITMQ_LOG_BASE": str(self._folder / "log"),
            "RABBITMQ_CONF_ENV_FILE": str(nothing),
            "RABBITMQ_CONFIG_FILE": str(settings),
            "RABBITMQ_ADVANCED_CONFIG_FILE": str(self._folder / "none"),
            "RABBITMQ_ENABLED_PLUGINS_FILE": str(plugins),
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "-kernel inet_dist_use_interface {127,0,0,1}",
        }

    def __enter__(self) -> Self:
        try:
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
        shutil.rmtree(self._folder, ignore_errors=True)

    def start(self) -> None:
        with (self._folder / "said").open("ab") as said:
            self._process = subprocess.Popen(
                [str(self._script)],
                env=self._environment,
                cwd=self._folder,
                stdout=said,
                stderr=said,
                start_new_session=True,  # It is several processes, and all of them are to end.
            )
        until = time.monotonic() + _START
        while not _listens(self._port):
            if self._process.poll() is not None or time.monotonic() > until:
                raise ServiceMissing(f"RabbitMQ of {self._script} did not start: {self._last_words()}")
            time.sleep(0.1)

    def kill(self) -> None:
        """No goodbye."""
        process, self._process = self._process, None
        if process is not None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def restart(self) -> None:
        """Stop and start the broker: every connection breaks. It is not killed, because RabbitMQ then sometimes never
        serves a queue again that was declared just before."""
        assert self._process is not None
        self._process.terminate()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_STOP)
        self.kill()
        self.start()

    def _last_words(self) -> str:
        with suppress(OSError):
            return (self._folder / "said").read_text(errors="replace")[-500:]
        return "no log"


def _script() -> Path:
    """The script itself: what is on PATH may be a wrapper that changes the user."""
    found = shutil.which("rabbitmq-server")
    if found is None:
        raise ServiceMissing("no RabbitMQ of our own: rabbitmq-server is not on PATH")
    script = Path(found).resolve().parent / "rabbitmq-server"
    if not script.exists():
        raise ServiceMissing(f"no RabbitMQ of our own: there is no {script}")
    return script


def _listens(port: int) -> bool:
    """Whether it talks the protocol: the port opens before the server is up."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=2) as wire:
            wire.sendall(b"AMQP\x00\x00\x09\x01")
            return wire.recv(1) == b"\x01"
    except OSError:
        return False
