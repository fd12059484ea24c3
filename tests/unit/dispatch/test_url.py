"""Lookup of transports by address, and errors that name the remedy without the password."""

from __future__ import annotations

import subprocess
import sys
from datetime import timedelta
from importlib.metadata import EntryPoint, EntryPoints

import pytest

from holdfast.dispatch import transport_from_url, url as url_module
from holdfast.dispatch.address import TransportOptions, address_of
from holdfast.dispatch.local import LocalTransport, local_from_url
from holdfast.errors import TransportMisconfigured


def test_every_part_of_an_address() -> None:
    address = address_of(
        "amqp://me:p%40ss@broker:5672/flows?prefix=mine&hold=2.5&patience=4&heartbeat=5",
        example="amqp://…",
        own=("heartbeat",),
    )

    assert address.url == "amqp://me:p%40ss@broker:5672/flows"
    assert address.shown == "amqp://me@broker:5672/flows"
    assert address.parts == {"heartbeat": "5"}
    assert address.options == TransportOptions(
        prefix="mine", hold=timedelta(seconds=2.5), patience=timedelta(seconds=4)
    )


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("local://", "local"),
        ("LOCAL://", "local"),
        ("amqp://guest:secret@host/", "rabbitmq"),
        ("amqps://host", "rabbitmq"),
        ("nats://a:4222,b:4222", "nats"),
        ("redis://host:6379/3", "redis"),
        ("rediss://:secret@host", "redis"),
    ],
)
async def test_addresses_of_our_own_transports(url: str, name: str) -> None:
    pytest.importorskip({"rabbitmq": "aio_pika", "local": "asyncio"}.get(name, name), reason=f"{name}: no driver")

    transport = transport_from_url(url)

    assert transport.name == name


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("", "has no scheme"),
        ("secret", "has no scheme"),
        ("local:name", "has no scheme"),
        ("local://me:secret@x", "takes no host, port or path"),
        ("local://name/path", "takes no host, port or path"),
        ("amqp://me:secret@host:port/", "no valid port"),
        ("amqp://me:sec/ret@host/", "%2F"),
        ("amqp://me:sec#ret@host/", "%23"),
        ("amqp://me:sec?ret@host/", "%3F"),
        ("amqp://me:secret@host/?speed=9&color=red", "unknown options: color, speed. Known: heartbeat, hold, patience"),
        ("amqp://me:secret@host/?heartbeat=often", "a number of seconds"),
        ("nats://me:secret@host?replicas=9", "must be 1 to 5"),
        ("nats://me:secret@host?prefix=a.b", "1 to 32 of the characters"),
        ("redis://me:secret@host/flows", "must be a number"),
        ("redis://me:secret@host?hold=0", "more than 0 seconds"),
        ("redis://me:secret@host?patience=nan", "a number of seconds"),
        ("redis://[me:secret@host", "cannot be read"),
        ("rabbitmq://me:secret@host", "Did you mean amqp?"),
        ("kafka://me:secret@host", "package of the plugin"),
    ],
)
def test_an_invalid_address_is_refused_without_showing_its_password(url: str, message: str) -> None:
    with pytest.raises(TransportMisconfigured, match=message) as raised:
        transport_from_url(url)

    said = str(raised.value).replace("seconds", "")
    assert "sec" not in said
    assert "ret@" not in said


@pytest.mark.parametrize(
    ("url", "driver", "extra"),
    [("amqp://host", "aio_pika", "rabbitmq"), ("nats://host", "nats", "nats"), ("redis://host", "redis", "redis")],
)
def test_a_missing_driver_names_what_to_install(url: str, driver: str, extra: str) -> None:
    program = (
        f"import sys; sys.modules['{driver}'] = None\n"
        "from holdfast.dispatch import transport_from_url\n"
        f"try: transport_from_url('{url}')\n"
        "except Exception as error: print(type(error).__name__, error)"
    )

    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout

    assert said.startswith(f"TransportMisconfigured The driver '{driver}")
    assert f"pip install 'holdfast[{extra}]'" in said


def test_a_scheme_by_argument() -> None:
    transport = LocalTransport()

    assert transport_from_url("mine://somewhere", plugins={"mine": lambda url: transport}) is transport


def test_a_scheme_by_an_installed_package(monkeypatch: pytest.MonkeyPatch) -> None:
    point = EntryPoint("outside", "tests_outside_transport:make", url_module.ENTRY_POINTS)
    monkeypatch.setattr(EntryPoint, "load", lambda self: lambda url: local_from_url("local://"))
    monkeypatch.setattr(url_module, "entry_points", lambda group: EntryPoints([point]))

    assert isinstance(transport_from_url("outside://x"), LocalTransport)


def test_no_driver_is_loaded_before_it_is_used() -> None:
    program = (
        "import sys\nfrom holdfast.dispatch import transport_from_url\ntransport_from_url('local://')\n"
        "print(sorted({'aio_pika', 'nats', 'redis'} & sys.modules.keys()))"
    )

    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout == "[]\n"
