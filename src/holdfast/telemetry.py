"""Every event that Holdfast emits, in one table: its name, when it happens, what it carries.

Spans, metrics and logs are made *of* these events by whoever listens, so there is one place that says what can be seen
from outside. `docs/reference/events.md` is written from this table, and a test compares it with every `emit` in the
source: no event without an entry, no entry without an event, no field more or less.

Nobody listens by default, and then an event costs one look at a list; `wants` tells whether anybody listens to this one:

    if telemetry.listeners:
        telemetry.emit("instance.finished", instance_id=…, definition_id=…, status=…)

A listener is called where the event happens, synchronously, also inside a segment, which may be thrown away and run
again: it must be quick and must not call back into the engine. What it raises is logged and goes no further; a broken
dashboard does not break an order.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from msgspec import Struct

logger = logging.getLogger("holdfast")

Listener = Callable[[str, Mapping[str, Any]], None]
"""Called with the event's name and its fields."""


class Event(Struct, frozen=True):
    name: str
    when: str
    fields: tuple[str, ...]
    level: int = logging.INFO
    """How loud it is in a log; see `log_event`."""


_INSTANCE = ("instance_id", "definition_id")
_EFFECT = (*_INSTANCE, "activity_id", "activity_type", "attempt")

EVENTS: tuple[Event, ...] = (
    # -- the life of an instance
    Event("instance.started", "an instance begins its first burst", (*_INSTANCE, "definition_version")),
    Event("instance.suspended", "nothing is left but bookmarks", (*_INSTANCE, "bookmarks")),
    Event("instance.resumed", "a stimulus met a bookmark", (*_INSTANCE, "bookmark_id")),
    Event("instance.finished", "the root activity completed", (*_INSTANCE, "activities")),
    Event("instance.faulted", "an incident ended it", (*_INSTANCE, "incidents"), logging.ERROR),
    Event("instance.canceled", "someone canceled it", _INSTANCE),
    # -- what is asked for
    Event("request.dispatching", "a dispatcher was given a request", ("request", "target")),
    Event("request.dispatched", "it was accepted", ("request", "target", "instance_ids")),
    Event(
        "stimulus.settled",
        "a stimulus was delivered, started an instance, was refused, kept, forgotten, unread, expired or swept",
        ("stimulus_id", "type", "name", "outcome"),
        logging.DEBUG,
    ),
    # -- definitions
    Event("definition.published", "a version of it is the published one now", ("definition_id", "version")),
    Event("definition.retracted", "none of its versions is published any more", ("definition_id",)),
    Event("definition.deleted", "a version of it was deleted", ("definition_id", "version")),
    # -- the parts of a burst
    Event("segment.committed", "a segment ended and is kept", (*_INSTANCE, "activities"), logging.DEBUG),
    Event(
        "burst.committed",
        "a burst was committed by a node: when it began, had run and was written, and (called) what happened in it",
        (*_INSTANCE, "trace", "began_ns", "ran_ns", "committed_ns", "entries"),
        logging.DEBUG,
    ),
    Event(
        "commit.lost",
        "another commit was faster: it is tried again or answered",
        ("instance_id", "reason"),
        logging.DEBUG,
    ),
    Event("work.taken", "a node took up a row of work; how late it was", ("kind", "queue", "late"), logging.DEBUG),
    # -- effects
    Event("effect.started", "an attempt of a recorded effect begins", _EFFECT, logging.DEBUG),
    Event("effect.finished", "an attempt gave a result", _EFFECT, logging.DEBUG),
    Event("effect.faulted", "an attempt raised", (*_EFFECT, "type"), logging.WARNING),
    Event("effect.timed_out", "an attempt took longer than its timeout", _EFFECT, logging.WARNING),
    Event(
        "effect.taken_over",
        "an effect of a node that died goes on elsewhere",
        ("instance_id", "activity_id", "attempt", "node"),
        logging.WARNING,
    ),
)

BY_NAME: Mapping[str, Event] = {event.name: event for event in EVENTS}

listeners: list[Listener] = []
"""Those who hear something now. Look whether it is empty before you build an event's fields."""
_heard: dict[str, tuple[Listener, ...]] = {}
"""Who hears an event, of those that anybody hears."""


def wants(name: str) -> bool:
    """Whether anybody listens to this event. Ask before its fields cost more than a look."""
    return name in _heard


def emit(name: str, /, **fields: Any) -> None:
    """Tell every listener. One that raises is logged; the others and the engine go on."""
    for listener in _heard.get(name, ()):
        try:
            listener(name, fields)
        except Exception:
            logger.exception("A telemetry listener failed on %s; it stays subscribed. Mend or remove it.", name)


def subscribe(listener: Listener, *names: str) -> Callable[[], None]:
    """Listen to all events or to those named, until what is given back is called; a name that is not in the table is
    refused."""
    unknown = sorted(set(names) - BY_NAME.keys())
    if unknown:
        raise ValueError(f"No such event: {', '.join(unknown)}. The table is in docs/reference/events.md.")
    wanted = frozenset(names or BY_NAME)

    def heard(name: str, fields: Mapping[str, Any]) -> None:
        """One of its own for each subscription: the same listener may have several."""
        listener(name, fields)

    listeners.append(heard)
    for name in wanted:
        _heard[name] = (*_heard.get(name, ()), heard)

    def end() -> None:
        if heard not in listeners:
            return
        listeners.remove(heard)
        for name in wanted:
            left = tuple(other for other in _heard[name] if other is not heard)
            if left:
                _heard[name] = left
            else:
                del _heard[name]

    return end


@contextmanager
def on(listener: Listener, *names: str) -> Iterator[None]:
    """Listen inside a `with` block."""
    end = subscribe(listener, *names)
    try:
        yield
    finally:
        end()


def log_event(name: str, fields: Mapping[str, Any]) -> None:
    """A listener that writes each event to the logger `holdfast`, at the level of the table."""
    level = BY_NAME[name].level
    if logger.isEnabledFor(level):
        told = {key: value for key, value in fields.items() if not callable(value)}
        words = " ".join(f"{key}={value}" for key, value in told.items())
        logger.log(level, "%s %s", name, words, extra={"event": name, "fields": told})


# -- traces ------------------------------------------------------------------------------------------------------------

tracing: Callable[[str], str | None] | None = None
"""Gives an instance that is started the trace it belongs to, as W3C `traceparent`; set by whoever makes spans."""


def trace_for(instance_id: str) -> str | None:
    """The trace of who starts it here and now; None where nobody makes spans."""
    return None if tracing is None else tracing(instance_id)


__all__ = [
    "BY_NAME",
    "EVENTS",
    "Event",
    "Listener",
    "emit",
    "listeners",
    "log_event",
    "on",
    "subscribe",
    "trace_for",
    "tracing",
]
