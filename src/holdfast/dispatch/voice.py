"""How a transport says what happens to it: to a listener, or to the log where there is none."""

from __future__ import annotations

import logging

from holdfast.ports import Disconnected, Poisoned, Reconnected, TransportEvent, TransportListener

_LOG = logging.getLogger("holdfast.dispatch")


class Voice:
    """Tells each change of the connection once, however many notice it."""

    def __init__(self, name: str, listener: TransportListener | None = None) -> None:
        self.name = name
        self._listener = listener or log_event
        self._connected = True

    def tell(self, event: TransportEvent) -> None:
        try:
            self._listener(event)
        except Exception:  # noqa: BLE001 - whatever a listener does, tickets are carried on
            _LOG.exception("the listener of the transport '%s' failed at %r", self.name, event)

    def lost(self, reason: BaseException | str) -> None:
        if self._connected:
            self._connected = False
            said = reason if isinstance(reason, str) else f"{type(reason).__name__}: {reason}"
            self.tell(Disconnected(transport=self.name, reason=said))

    def found(self) -> None:
        if not self._connected:
            self._connected = True
            self.tell(Reconnected(transport=self.name))


def log_event(event: TransportEvent) -> None:
    match event:
        case Poisoned():
            _LOG.warning("queue '%s': a message went to the dead letters: %s", event.queue, event.reason)
        case Disconnected():
            _LOG.warning("%s: the connection is lost (%s); trying again", event.transport, event.reason)
        case Reconnected():
            _LOG.info("%s: connected again", event.transport)
