"""Errors of message brokers."""

from __future__ import annotations

from holdfast.errors.base import HoldfastError


class TransportError(HoldfastError):
    """Base class: a message broker failed."""


class TransportUnavailable(TransportError):
    """The broker does not answer, or the connection broke; retries failed."""


class TransportMisconfigured(TransportError):
    """A wrong address, a missing driver, a missing right or an incompatible queue."""


class TransportClosed(TransportError):
    """The transport was used before `open`, after `close`, or from an event loop other than the one that opened it."""


class DelayUnsupported(TransportError):
    """The broker cannot delay a ticket. Put a row with a due time on the work table instead."""

    def __init__(self, transport: str) -> None:
        self.transport = transport
        super().__init__(
            f"The transport '{transport}' cannot delay a ticket (`can_schedule` is False). "
            "Put a row with a due time on the work table instead."
        )


class UnreadableTicket(TransportError, ValueError):
    """Bytes from a queue that do not decode to a ticket of this version."""
