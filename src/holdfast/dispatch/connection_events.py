"""Connection events of a transport: passed to a listener, or logged if there is none."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from time import monotonic

from holdfast.ports import Disconnected, Poisoned, Reconnected, TransportEvent, TransportListener

_LOG = logging.getLogger("holdfast.dispatch")

REMINDER_INTERVAL = 60.0
"""Seconds between two log lines about a broker that is still unreachable."""


class ConnectionEvents:
    """Emits each change of the connection once, even if several tasks notice it."""

    def __init__(self, name: str, listener: TransportListener | None = None) -> None:
        self.name = name
        self._listener = listener or log_event
        self._connected = True
        self._logged = 0.0

    def emit(self, event: TransportEvent) -> None:
        try:
            self._listener(event)
        except Exception:  # noqa: BLE001 - an error of a listener must not stop the delivery of tickets
            _LOG.exception("the listener of the transport '%s' failed for %r", self.name, event)

    def disconnected(self, reason: BaseException | str) -> None:
        text = reason if isinstance(reason, str) else f"{type(reason).__name__}: {reason}"
        if self._connected:
            self._connected, self._logged = False, monotonic()
            self.emit(Disconnected(transport=self.name, reason=text))
        elif monotonic() - self._logged >= REMINDER_INTERVAL:
            self._logged = monotonic()
            _LOG.warning("%s: still no connection (%s)", self.name, text)

    def reconnected(self) -> None:
        if not self._connected:
            self._connected = True
            self.emit(Reconnected(transport=self.name))


def log_event(event: TransportEvent) -> None:
    match event:
        case Poisoned():
            _LOG.warning("queue '%s': a message was moved to the dead letters: %s", event.queue, event.reason)
        case Disconnected():
            _LOG.warning("%s: connection lost (%s); reconnecting", event.transport, event.reason)
        case Reconnected():
            _LOG.info("%s: reconnected", event.transport)


def demote_driver_logs(*drivers: str) -> None:
    """Lower the records of a driver's loggers to DEBUG. While a broker is unreachable, drivers log the same line many times
    a second; `ConnectionEvents` logs the outage once."""
    for name in _loggers(drivers):
        logger = logging.getLogger(name)
        if _lower_to_debug not in logger.filters:
            logger.addFilter(_lower_to_debug)


def _loggers(drivers: tuple[str, ...]) -> Iterator[str]:
    yield from drivers
    for name in tuple(logging.root.manager.loggerDict):
        if name.startswith(tuple(f"{driver}." for driver in drivers)):
            yield name


def _lower_to_debug(record: logging.LogRecord) -> bool:
    if record.levelno > logging.DEBUG:
        record.levelno, record.levelname = logging.DEBUG, logging.getLevelName(logging.DEBUG)
    return logging.getLogger(record.name).isEnabledFor(record.levelno)
