"""Outbound HTTP client of the activities, with a guard against requests to private addresses (SSRF).

The author of a workflow, or the data of a request, can name any URL, including services of the local network that trust
every client: cloud metadata, databases, neighboring services. The guard therefore checks each socket before it
connects, by its resolved address. This also covers redirects, unusual spellings of addresses, and DNS names that change
between two lookups. The setting `http_private_allowed` allows private addresses. Proxies from the environment are not
used, because they would open connections that the guard cannot see.
"""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import timedelta
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Any

from msgspec import Struct

from holdfast.errors import ExecutionError, SettingsError

logger = logging.getLogger("holdfast")

Network = IPv4Network | IPv6Network
ANY = "*"
_NAT64 = IPv6Network("64:ff9b::/96")
RESPONSE_MAX = 10 * 1024 * 1024
REDIRECTS_MAX = 10
REDIRECT_STATUSES = frozenset({301, 302, 303, 307, 308})
FOLLOWING_HEADERS = frozenset(
    {"accept", "accept-encoding", "accept-language", "content-type", "traceparent", "user-agent"}
)
"""Headers that follow a redirect to another origin. Others may hold credentials of the first one."""
KEEP_ALIVE = timedelta(seconds=4)
"""Keep-alive time of a connection: shorter than that of servers (5 s and more), so that no request is sent on a
connection that the server is closing.
"""


class AddressRefused(OSError):
    """The guard refuses connections to this address."""


class OutboundResponse(Struct, frozen=True, kw_only=True):
    status: int
    headers: dict[str, str]
    """Names in lower case; repeated headers are joined."""
    url: str
    content_type: str
    charset: str
    body: bytes


class OutboundHttp:
    """HTTP client service for activities."""

    def __init__(self, allowed: str = "") -> None:
        self.networks: tuple[Network, ...] = ()
        self.any = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._shared: Any = None
        self.allow(allowed)

    def allow(self, text: str) -> None:
        """Allow addresses and networks, separated by commas; `*` allows all."""
        words = [word.strip() for word in text.split(",") if word.strip()]
        self.any = ANY in words
        try:
            self.networks = tuple(ip_network(word, strict=False) for word in words if word != ANY)
        except ValueError as error:
            raise SettingsError(
                f"http_private_allowed: {error}. Give addresses or networks such as 10.0.0.0/8."
            ) from error

    def is_allowed(self, host: str) -> bool:
        """Whether the guard allows this resolved address."""
        if self.any:
            return True
        address = ip_address(host.partition("%")[0])
        if isinstance(address, IPv6Address):  # IPv4 address embedded in IPv6: the connection ends there.
            translated = IPv4Address(int(address) & 0xFFFFFFFF) if address in _NAT64 else None
            address = address.ipv4_mapped or address.sixtofour or translated or address
        is_public = address.is_global and not address.is_multicast and not address.is_reserved
        return is_public or any(address.version == item.version and address in item for item in self.networks)

    def keep(self) -> None:
        """Reuse connections on this event loop, until `let_go`."""
        self._loop = asyncio.get_running_loop()

    async def let_go(self) -> None:
        self._loop = None
        if self._shared is not None:
            kept, self._shared = self._shared, None
            await kept.close()

    @asynccontextmanager
    async def _session(self) -> AsyncIterator[Any]:
        """The shared session, or a new one for this request. Reused connections have passed the guard."""
        if self._loop is not asyncio.get_running_loop():
            async with self._new_session() as session:
                yield session
            return
        if self._shared is None:
            self._shared = self._new_session()
        yield self._shared

    def _new_session(self) -> Any:
        import aiohttp

        connector = aiohttp.TCPConnector(
            socket_factory=self._socket,
            use_dns_cache=False,
            limit=0,
            keepalive_timeout=KEEP_ALIVE.total_seconds(),
        )
        return aiohttp.ClientSession(connector=connector, trust_env=False, cookie_jar=aiohttp.DummyCookieJar())

    def _socket(self, info: Any) -> socket.socket:
        family, kind, protocol, _, address = info
        if not self.is_allowed(address[0]):
            logger.info("a workflow may not call the private address %s", address[0])
            raise AddressRefused(address[0])
        made = socket.socket(family, kind, protocol)
        made.setblocking(False)
        return made

    async def request(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        body: bytes | None = None,
        timeout: timedelta = timedelta(seconds=100),
        size_max: int = RESPONSE_MAX,
    ) -> OutboundResponse:
        """Raises `AddressRefused`, `TimeoutError`, or another `OSError` if the connection fails."""
        try:
            import aiohttp
        except ImportError as error:
            raise ExecutionError("HTTP requests need aiohttp: pip install 'holdfast[http]'.") from error
        if not url.lower().startswith(("http://", "https://")):
            raise ExecutionError(f"'{url}' is not an HTTP URL. It must begin with http:// or https://.")
        try:
            async with asyncio.timeout(timeout.total_seconds()), self._session() as session:
                return await _followed(
                    session, Hop(method=method, url=url, headers=dict(headers or {}), body=body), size_max
                )
        except TimeoutError as error:
            raise TimeoutError(f"{method} {url} took longer than {timeout}.") from error
        except (aiohttp.InvalidURL, ValueError) as error:
            raise ExecutionError(f"{method} {url}: {error or type(error).__name__}.") from error
        except aiohttp.ClientError as error:
            cause: BaseException | None = error
            while cause is not None:
                if isinstance(cause, AddressRefused):
                    # Without the address: incidents would tell what the names of this network resolve to.
                    raise AddressRefused(
                        f"{method} {url}: it is or leads to a private address, which workflows may not call. To allow it, add "
                        "the address, which is in the log, to the setting http_private_allowed."
                    ) from error
                cause = cause.__cause__ or getattr(cause, "os_error", None)
            raise OSError(f"{method} {url}: {error}") from error


class Hop(Struct, frozen=True, kw_only=True):
    """One request of a chain of redirects."""

    method: str
    url: Any
    headers: dict[str, str]
    body: bytes | None


async def _followed(session: Any, first: Hop, size_max: int) -> OutboundResponse:
    """The response at the end of the redirects."""
    import aiohttp

    hop = first
    for _ in range(REDIRECTS_MAX + 1):
        async with session.request(
            hop.method,
            hop.url,
            headers=hop.headers,
            data=hop.body,
            allow_redirects=False,
            timeout=aiohttp.ClientTimeout(total=None),
        ) as response:
            location = response.headers.get("Location") if response.status in REDIRECT_STATUSES else None
            if location is None:
                return OutboundResponse(
                    status=response.status,
                    headers=_joined(response.headers.items()),
                    url=str(response.url),
                    content_type=response.content_type,
                    charset=response.charset or "utf-8",
                    body=await _read(response, size_max),
                )
            hop = redirected(hop, response.status, response.url, location)
    raise ExecutionError(
        f"{first.method} {first.url}: more than {REDIRECTS_MAX} redirects, the last at {hop.url}. Check the redirect "
        "configuration of the server."
    )


def redirected(hop: Hop, status: int, url: Any, location: str) -> Hop:
    """The next request. Another origin gets no credentials, whatever the name of their header. Raises `ValueError` or
    `OSError` for a location that is no HTTP address."""
    try:
        target = url.join(type(url)(location))  # The URL class of aiohttp.
    except ValueError as error:
        raise ValueError(f"the redirect to '{location}' leads to no address") from error
    if target.scheme not in {"http", "https"}:
        raise OSError(f"{hop.method} {hop.url}: the redirect to '{location}' leads to no HTTP address.")
    headers, method, body = hop.headers, hop.method, hop.body
    if (target.scheme, target.host, target.port) != (url.scheme, url.host, url.port):
        headers = {name: value for name, value in headers.items() if name.lower() in FOLLOWING_HEADERS}
    if (status == 303 and method != "HEAD") or (status in {301, 302} and method == "POST"):
        method, body = "GET", None
        headers = {name: value for name, value in headers.items() if name.lower() != "content-type"}
    return Hop(method=method, url=target, headers=headers, body=body)


async def _read(response: Any, size_max: int) -> bytes:
    parts: list[bytes] = []
    size = 0
    async for part in response.content.iter_chunked(65_536):
        size += len(part)
        if size > size_max:
            raise ExecutionError(
                f"The response is larger than {size_max:_} bytes. Request less, or raise response_size_limit."
            )
        parts.append(part)
    return b"".join(parts)


def _joined(items: Any) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, value in items:
        key = name.lower()
        found[key] = f"{found[key]}, {value}" if key in found else value
    return found
