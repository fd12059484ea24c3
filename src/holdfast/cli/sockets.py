"""The sockets that `holdfast serve`, and the probe of `holdfast worker`, listen on."""

from __future__ import annotations

import errno
import socket

from holdfast.cli.failures import BadInput

REMEDY = "Choose another --port (0 takes a free one) or --host."


def listen(host: str, port: int, remedy: str = REMEDY) -> list[socket.socket]:
    """Bind every address of the host; port 0 is one free port for all of them.

    Done before the store is opened, so that a port that is taken is told in plain words and changes nothing.
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
                ):  # A name may have an address that is not in use here.
                    raise
            port = bound[0].getsockname()[1]
    except OSError as error:
        for opened in bound:
            opened.close()
        raise BadInput(f"Nobody can listen at {host}:{port}: {error.strerror or error}. {remedy}") from error
    return bound


def address_of(bound: socket.socket) -> str:
    """Where people find it. One that listens everywhere is found on this machine, too."""
    host, port = bound.getsockname()[:2]
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 - compared, not bound
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
