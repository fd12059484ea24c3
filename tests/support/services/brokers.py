"""Brokers for tests: at their usual local addresses, or where the environment says. No broker is started here.

The variables are `HOLDFAST_TEST_RABBITMQ_URL`, `HOLDFAST_TEST_NATS_URL` and `HOLDFAST_TEST_REDIS_URL`.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping
from importlib.util import find_spec
from urllib.parse import urlsplit

from tests.support.services.availability import Needed, ServiceMissing

_USUAL: Mapping[str, tuple[str, str, str]] = {
    "rabbitmq": ("amqp://guest:guest@127.0.0.1:5672/", "aio_pika", "HOLDFAST_TEST_RABBITMQ_URL"),
    "nats": ("nats://127.0.0.1:4222", "nats", "HOLDFAST_TEST_NATS_URL"),
    "redis": ("redis://127.0.0.1:6379/0", "redis", "HOLDFAST_TEST_REDIS_URL"),
}
PORTS = {"rabbitmq": 5672, "nats": 4222, "redis": 6379}


def broker_url(service: str) -> str:
    """Raises `ServiceMissing` with what was tried."""
    usual, driver, variable = _USUAL[service]
    if find_spec(driver) is None:
        raise ServiceMissing(f"the driver {driver} is not installed: pip install 'holdfast[{service}]'")
    url = os.environ.get(variable, usual)
    parts = urlsplit(url)
    place = (parts.hostname or "127.0.0.1", parts.port or PORTS[service])
    try:
        socket.create_connection(place, timeout=5).close()
    except OSError as error:
        raise ServiceMissing(f"no server answers at {place[0]}:{place[1]} ({error}); set {variable}") from error
    return url


def broker_at_hand(service: str) -> str:
    """For the head of a test module: its address, or one line that says why the module is skipped. Where the service is
    required, that is an error."""
    with Needed(service):
        return broker_url(service)
