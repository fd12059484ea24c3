"""Availability of the services that tests need: a missing service skips the test, or fails it where the service is required.

`HOLDFAST_REQUIRE_SERVICES=postgres,mysql` lists the required services.
"""

from __future__ import annotations

import os
import socket

import pytest

REQUIRED = "HOLDFAST_REQUIRE_SERVICES"


class ServiceMissing(Exception):
    """No server of this kind is available; the message lists what was tried."""


def is_required(service: str) -> bool:
    return service in {name.strip() for name in os.environ.get(REQUIRED, "").split(",")}


class Needed:
    """Context manager around code that requests a service, in a test, a fixture or at the head of a test module."""

    def __init__(self, service: str) -> None:
        self._service = service

    def __enter__(self) -> None: ...

    def __exit__(self, _kind: object, error: BaseException | None, _traceback: object) -> None:
        if isinstance(error, ServiceMissing):
            if is_required(self._service):
                pytest.fail(f"{self._service}: {error}")
            pytest.skip(f"{self._service}: {error}", allow_module_level=True)


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port
