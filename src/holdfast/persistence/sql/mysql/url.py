"""`mysql://user:password@host:3306/database`, with options behind `?`. Passwords are never shown."""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from holdfast.errors import StoreMisconfigured
from holdfast.persistence.sql.mysql.address import MysqlAddress
from holdfast.persistence.sql.mysql.store import MysqlStore

_OPTIONS = ("connect_timeout", "ssl", "ssl_ca", "unix_socket")
_TLS = ("off", "on", "verify")
_EXAMPLE = "mysql://user:password@host:3306/database"


def mysql_from_url(url: str, **options: Any) -> MysqlStore:
    address = address_of(url)
    if not address.database:
        raise StoreMisconfigured(f"'{shown(url)}' names no database. Write it like {_EXAMPLE}")
    return MysqlStore(address, **options)


def address_of(url: str) -> MysqlAddress:
    """Parse an address. The database may be missing."""
    parts = urlsplit(url)
    if _cut_off(parts):
        raise StoreMisconfigured(
            f"'{shown(url)}' has a '/', '?' or '#' in its password. Write them as %2F, %3F and %23."
        )
    try:
        port = parts.port or 3306
    except ValueError as error:
        raise StoreMisconfigured(f"'{shown(url)}' has no valid port. Write it like {_EXAMPLE}") from error
    database = unquote(parts.path.removeprefix("/"))
    if "/" in database:
        raise StoreMisconfigured(f"'{shown(url)}' has more than a database after the host. Write it like {_EXAMPLE}")
    if parts.fragment:
        raise StoreMisconfigured(f"'{shown(url)}' has a fragment after '#', which is not used. Remove it.")
    address = MysqlAddress(
        host=parts.hostname or "127.0.0.1",
        port=port,
        user=unquote(parts.username or "root"),
        password=unquote(parts.password or ""),
        database=database,
    )
    return _with_options(address, dict(parse_qsl(parts.query, keep_blank_values=True)), url)


def _with_options(address: MysqlAddress, given: Mapping[str, str], url: str) -> MysqlAddress:
    unknown = sorted(set(given) - set(_OPTIONS))
    if unknown:
        raise StoreMisconfigured(
            f"'{shown(url)}' has unknown options: {', '.join(unknown)}. Known: {', '.join(_OPTIONS)}"
        )
    try:
        connect_timeout = timedelta(seconds=float(given.get("connect_timeout", "10")))
    except (ValueError, OverflowError) as error:
        raise StoreMisconfigured(f"connect_timeout in '{shown(url)}' must be a number of seconds.") from error
    if connect_timeout <= timedelta(0):
        raise StoreMisconfigured(f"connect_timeout in '{shown(url)}' must be more than 0 seconds.")
    return replace(
        address, unix_socket=given.get("unix_socket") or None, tls=_tls(given, url), connect_timeout=connect_timeout
    )


def _tls(given: Mapping[str, str], url: str) -> ssl.SSLContext | None:
    wanted = given.get("ssl", "verify" if "ssl_ca" in given else "off")
    if wanted not in _TLS:
        raise StoreMisconfigured(f"ssl in '{shown(url)}' must be one of {', '.join(_TLS)}.")
    if wanted == "off":
        return None
    try:
        context = ssl.create_default_context(cafile=given.get("ssl_ca"))
    except OSError as error:
        raise StoreMisconfigured(f"The file of ssl_ca cannot be read: {error}. Give a file of certificates.") from error
    if wanted == "on":
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


def shown(url: str) -> str:
    """The address without its password."""
    parts = urlsplit(url)
    if _cut_off(parts):
        return f"{parts.scheme}://…"
    user, at, place = parts.netloc.rpartition("@")
    name = user.partition(":")[0]
    return SplitResult(parts.scheme, f"{name}{at}{place}", parts.path, parts.query, "").geturl()


def _cut_off(parts: SplitResult) -> bool:
    """Whether the password contains a character that ends the authority, so that it leaks into path, query or fragment."""
    return "@" in parts.path + parts.query + parts.fragment
