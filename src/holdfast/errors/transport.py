"""A broker did not carry it."""

from __future__ import annotations

from holdfast.errors.base import HoldfastError


class TransportError(HoldfastError):
    """A broker did not carry what it was given."""


class TransportUnavailable(TransportError):
    """The broker does not answer, or the connection broke; it was tried again without success."""


class TransportMisconfigured(TransportError):
    """An address, a driver, a right or a queue that is not as it must be."""


class TransportClosed(TransportError):
    """A transport that was used before `open`, after `close`, or from another event loop than the one that opened it."""


class DelayUnsupported(TransportError):
    """This broker cannot hold a ticket back. Put a row with a due time on the work table instead."""

    def __init__(self, transport: str) -> None:
        self.transport = transport
        super().__init__(
            f"The transport '{transport}' cannot hold a ticket back (`can_schedule` is False). "
            "Put a row with a due time on the work table instead."
        )


class UnreadableTicket(TransportError, ValueError):
    """Bytes from a queue that are no ticket of this version."""
