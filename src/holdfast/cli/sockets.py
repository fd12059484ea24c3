"""Listening sockets of `holdfast serve` and of the probe of `holdfast worker`."""

from __future__ import annotations

import errno
import socket

from holdfast.cli.failures import BadInput

REMEDY = "Choose another --port (0 selects a free one) or --host."


def listen(host: str, port: int, remedy: str = REMEDY) -> list[socket.socket]:
    """Bind every address of the host; port 0 selects one free port for all of them.

    Called before the store is opened, so that a port in use is reported before anything changes.
    """
    bound: list[socket.socket] = []
    try:
        for family, _, _, _, address in socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        ):
            try:
                bound.append(socket.create_server((address[0], port), family=family))
            except OSError as error:
                if (
                    error.errno != errno.EADDRNOTAVAIL or not bound
                ):  # A name may resolve to an address that this machine does not have.
                    raise
            port = bound[0].getsockname()[1]
    except OSError as error:
        for opened in bound:
            opened.close()
        raise BadInput(f"Cannot listen on {host}:{port}: {error.strerror or error}. {remedy}") from error
    return bound


def address_of(bound: socket.socket) -> str:
    """The address for users. A wildcard address is shown as the loopback address."""
    host, port = bound.getsockname()[:2]
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 - compared, not bound
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
