"""Addresses of MySQL servers: parts, errors, and passwords that stay secret."""

from __future__ import annotations

import ssl
import subprocess
import sys
from datetime import timedelta

import pytest

pytest.importorskip("asyncmy", reason="mysql: the driver asyncmy is not installed")

from holdfast.errors import StoreMisconfigured
from holdfast.persistence import store_from_url
from holdfast.persistence.sql.mysql import MysqlStore
from holdfast.persistence.sql.mysql.address import MysqlAddress
from holdfast.persistence.sql.mysql.session import check_version
from holdfast.persistence.sql.mysql.url import address_of, shown


def test_every_part_of_an_address() -> None:
    address = address_of("mysql://me:p%40ss%2Fword@db.example:3307/flows?connect_timeout=2.5&unix_socket=/run/my.sock")

    assert address == MysqlAddress(
        host="db.example",
        port=3307,
        user="me",
        password="p@ss/word",
        database="flows",
        unix_socket="/run/my.sock",
        connect_timeout=timedelta(seconds=2.5),
    )
    assert "p@ss" not in repr(address)


def test_missing_parts_have_defaults() -> None:
    assert address_of("mysql:///flows") == MysqlAddress(database="flows")
    assert address_of("mysql://127.0.0.1").database == ""


@pytest.mark.parametrize("scheme", ["mysql", "mariadb", "MySQL"])
def test_both_names_of_the_server_are_known(scheme: str) -> None:
    store = store_from_url(f"{scheme}://me@localhost/flows")

    assert isinstance(store, MysqlStore)
    assert store.name == "mysql"


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("mysql://me:secret@host", "names no database"),
        ("mysql://me:secret@host/", "names no database"),
        ("mysql://me:secret@host:port/flows", "no valid port"),
        ("mysql://me:secret@host:99999/flows", "no valid port"),
        ("mysql://me:secret@host/flows/more", "more than a database"),
        (
            "mysql://me:secret@host/flows?speed=9&color=red",
            "unknown options: color, speed. Known: connect_timeout, ssl",
        ),
        ("mysql://me:secret@host/flows?ssl=maybe", "must be one of off, on, verify"),
        ("mysql://me:secret@host/flows?ssl_ca=/nowhere/ca.pem", "ssl_ca cannot be read"),
        ("mysql://me:secret@host/flows?connect_timeout=soon", "a number of seconds"),
        ("mysql://me:secret@host/flows?connect_timeout=0", "more than 0 seconds"),
        ("mysql://me:sec#ret@host/flows", "%23"),
        ("mysql://me:sec/ret@host/flows", "%2F"),
        ("mysql://me:sec?ret@host/flows", "%3F"),
        ("mysql://me:secret@host/flows#part", "after '#'"),
    ],
)
def test_an_invalid_address_is_refused_without_showing_its_password(url: str, message: str) -> None:
    with pytest.raises(StoreMisconfigured, match=message) as raised:
        store_from_url(url)

    assert "sec" not in str(raised.value).replace("seconds", "")


def test_tls_verifies_the_server_unless_disabled() -> None:
    checked, unchecked = (address_of(f"mysql://host/flows?ssl={how}").tls for how in ("verify", "on"))

    assert checked is not None
    assert unchecked is not None
    assert (checked.verify_mode, unchecked.verify_mode) == (ssl.CERT_REQUIRED, ssl.CERT_NONE)
    assert address_of("mysql://host/flows?ssl=off").tls is None


def test_an_address_is_shown_without_its_password() -> None:
    assert shown("mysql://me:secret@host:3306/flows?ssl=on") == "mysql://me@host:3306/flows?ssl=on"


def test_a_missing_driver_names_what_to_install() -> None:
    program = (
        "import sys; sys.modules['asyncmy'] = None\n"
        "from holdfast.persistence import store_from_url\n"
        "try: store_from_url('mysql://me@host/flows')\n"
        "except Exception as error: print(type(error).__name__, error)"
    )

    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout

    assert said.startswith("StoreMisconfigured The driver 'asyncmy'")
    assert "pip install 'holdfast[mysql]'" in said


@pytest.mark.parametrize(
    ("server", "said"),
    [("5.7.44-log", "MySQL 5.7.44"), ("10.5.26-MariaDB-log", "MariaDB 10.5.26"), ("5.5.5-10.3.1-MariaDB", "10.3.1")],
)
def test_a_server_that_is_too_old_is_refused(server: str, said: str) -> None:
    with pytest.raises(StoreMisconfigured, match=f"{said}.*MySQL 8 or MariaDB 10.6"):
        check_version(server, MysqlAddress())


@pytest.mark.parametrize("server", ["8.0.36", "8.4.2-commercial", "9.1.0", "10.6.0-MariaDB", "11.4.3-MariaDB-1:11.4"])
def test_servers_that_are_new_enough(server: str) -> None:
    check_version(server, MysqlAddress())
