"""Broker addresses: parsing, validation, and display without passwords."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from datetime import timedelta
from urllib.parse import SplitResult, parse_qsl, urlsplit, urlunsplit

from msgspec import Struct

from holdfast.errors import TransportMisconfigured

_PREFIX = re.compile(r"[A-Za-z0-9_-]{1,32}")
OPTIONS = ("hold", "patience", "prefix")
"""Query options that every address takes."""


class TransportOptions(Struct, frozen=True, kw_only=True):
    """Query options of a broker address that all transports share."""

    prefix: str = "holdfast"
    """Prefix of every queue name. It keeps installations apart that share a broker."""
    hold: timedelta = timedelta(seconds=30)
    """Time after which the unsettled deliveries of a dead consumer are redelivered."""
    patience: timedelta = timedelta(seconds=10)
    """Time for which a call retries before it raises `TransportUnavailable`."""


class Address(Struct, frozen=True, kw_only=True):
    url: str
    """The address for the driver, without Holdfast's options."""
    shown: str
    """The address for logs and errors, without the password."""
    parts: Mapping[str, str]
    """Options that are specific to this transport."""
    options: TransportOptions


def address_of(url: str, *, example: str, own: Collection[str] = ()) -> Address:
    """Parse an address. `TransportMisconfigured` never contains the password."""
    parts = urlsplit(url)
    shown = shown_url(parts)
    if parts.fragment or "@" in parts.path + parts.query:
        raise TransportMisconfigured(
            f"The address {parts.scheme}://… cannot be read. In user and password write '#' as %23, '/' as %2F, '?' as "
            f"%3F and '@' as %40, like {example}"
        )
    try:
        parts.port  # noqa: B018 - reading it checks it
    except ValueError as error:
        if "," not in parts.netloc:
            raise TransportMisconfigured(f"{shown} has no valid port. Write it like {example}") from error
    given = dict(parse_qsl(parts.query, keep_blank_values=True))
    unknown = sorted(given.keys() - {*OPTIONS, *own})
    if unknown:
        raise TransportMisconfigured(
            f"{shown} has unknown options: {', '.join(unknown)}. Known: {', '.join(sorted((*OPTIONS, *own)))}."
        )
    return Address(
        url=urlunsplit(parts._replace(query="")),
        shown=shown,
        parts={name: given[name] for name in own if name in given},
        options=_options(given, shown),
    )


def shown_url(parts: SplitResult) -> str:
    credentials, at, place = parts.netloc.rpartition("@")
    user = credentials.partition(":")[0]
    return f"{parts.scheme}://{user}{at if user else ''}{place}{parts.path}"


def seconds(name: str, text: str, shown: str) -> timedelta:
    try:
        value = timedelta(seconds=float(text))
    except (ValueError, OverflowError) as error:
        raise TransportMisconfigured(f"{shown}: {name}={text!r} must be a number of seconds, like {name}=30") from error
    if value <= timedelta(0):
        raise TransportMisconfigured(f"{shown}: {name}={text!r} must be more than 0 seconds, like {name}=30")
    return value


def _options(given: Mapping[str, str], shown: str) -> TransportOptions:
    usual = TransportOptions()
    prefix = given.get("prefix", usual.prefix)
    if not _PREFIX.fullmatch(prefix):
        raise TransportMisconfigured(f"{shown}: prefix={prefix!r} must be 1 to 32 of the characters A-Z a-z 0-9 _ -")
    return TransportOptions(
        prefix=prefix,
        hold=seconds("hold", given["hold"], shown) if "hold" in given else usual.hold,
        patience=seconds("patience", given["patience"], shown) if "patience" in given else usual.patience,
    )
