"""Limits of connections and requests, and the count of open connections of a process."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from datetime import timedelta
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Self

from msgspec import Struct

from holdfast.settings import Settings

FILES_RESERVED = 200
"""Open files that connections leave to the store, logs and outgoing requests."""


class ConnectionLimits(Struct, frozen=True, kw_only=True):
    """Values of the settings that the protocols enforce."""

    head_bytes: int
    headers: int
    head_time: timedelta
    body_time: timedelta
    body_rate: int
    stall_time: timedelta
    connections: int
    address_connections: int

    @classmethod
    def of(cls, settings: Settings) -> Self:
        return cls(
            head_bytes=settings.request_head_bytes_max,
            headers=settings.request_headers_max,
            head_time=settings.request_head_time,
            body_time=settings.request_body_time,
            body_rate=settings.request_body_rate,
            stall_time=settings.response_stall_time,
            connections=min(settings.connections_max, files_available()),
            address_connections=settings.address_connections_max,
        )

    def body_seconds(self, received: int) -> float:
        """Time that a client has for a body of which it has sent this many bytes."""
        return self.body_time.total_seconds() + received / self.body_rate


def files_available() -> int:
    """Connections that the process can open, by its limit of open files."""
    try:
        import resource
    except ImportError:  # Windows
        return 2**31
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return 2**31 if soft == resource.RLIM_INFINITY else max(soft - FILES_RESERVED, 1)


class ConnectionCounts:
    """Open connections in all and per client address. Trusted proxies have no limit of their own: they carry many clients."""

    def __init__(self, limits: ConnectionLimits, proxies: Iterable[str] = ()) -> None:
        self._limits = limits
        self._everyone_trusted = "*" in proxies
        self._proxies = tuple(found for text in proxies if (found := _network(text)) is not None)
        self._by_address: Counter[str] = Counter()
        self.total = 0

    def enter(self, host: str | None) -> bool:
        """Count a connection. False, and not counted, if a limit is reached."""
        key = address_key(host)
        has_room = self._by_address[key] < self._limits.address_connections or self._is_proxy(host)
        if self.total >= self._limits.connections or not has_room:
            if not self._by_address[key]:
                del self._by_address[key]
            return False
        self.total += 1
        self._by_address[key] += 1
        return True

    def leave(self, host: str | None) -> None:
        key = address_key(host)
        self.total -= 1
        self._by_address[key] -= 1
        if not self._by_address[key]:
            del self._by_address[key]

    def _is_proxy(self, host: str | None) -> bool:
        if self._everyone_trusted or host is None:  # A Unix socket has no address.
            return True
        try:
            address = ip_address(host)
        except ValueError:
            return False
        return any(address in network for network in self._proxies)


def address_key(host: str | None) -> str:
    """The address that is counted: one IPv6 client commands a whole /64."""
    if host is None or ":" not in host:
        return host or ""
    try:
        address = IPv6Address(host.partition("%")[0])
    except ValueError:
        return host
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return str(IPv6Network((address, 64), strict=False))


def _network(text: str) -> IPv4Network | IPv6Network | None:
    try:
        return ip_network(text.strip(), strict=False)
    except ValueError:  # A literal, such as the path of a Unix socket.
        return None
