"""Telemetry: every event that Holdfast emits, in one table with its name, meaning and fields.

Listeners turn these events into spans, metrics and logs, so the table defines everything that is observable from outside.
`docs/reference/events.md` is generated from it. A test compares it with every `emit` in the source: events and fields must match
exactly.

Without listeners an event costs one check of a list. `wants` says whether an event has a listener:

    if telemetry.listeners:
        telemetry.emit("instance.finished", tenant=…, instance_id=…, definition_id=…, activities=…)

A listener is called synchronously where the event occurs, also inside a segment, which may be discarded and run again. It must
be quick and must not call the engine. Exceptions of a listener are logged and ignored, so that broken monitoring never breaks a
workflow.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from msgspec import Struct

logger = logging.getLogger("holdfast")

Listener = Callable[[str, Mapping[str, Any]], None]
"""Called with the name of the event and its fields."""


class Event(Struct, frozen=True):
    name: str
    when: str
    fields: tuple[str, ...]
    level: int = logging.INFO
    """Log level; see `log_event`."""


_INSTANCE = ("tenant", "instance_id", "definition_id")
_EFFECT = (*_INSTANCE, "activity_id", "activity_type", "attempt")

EVENTS: tuple[Event, ...] = (
    # -- instances
    Event("instance.started", "an instance begins its first burst", (*_INSTANCE, "definition_version")),
    Event("instance.suspended", "an instance waits at its bookmarks", (*_INSTANCE, "bookmarks")),
    Event("instance.resumed", "a stimulus matched a bookmark", (*_INSTANCE, "bookmark_id")),
    Event("instance.finished", "the root activity completed", (*_INSTANCE, "activities")),
    Event("instance.faulted", "an incident ended the instance", (*_INSTANCE, "incidents"), logging.ERROR),
    Event("instance.canceled", "the instance was canceled", _INSTANCE),
    # -- requests
    Event("request.dispatching", "a dispatcher received a request", ("tenant", "request", "target")),
    Event("request.dispatched", "the request was accepted", ("tenant", "request", "target", "instance_ids")),
    Event(
        "stimulus.settled",
        "a stimulus was delivered, started an instance, or was refused, kept, forgotten, unread, expired or swept",
        ("tenant", "stimulus_id", "type", "name", "outcome"),
        logging.DEBUG,
    ),
    # -- definitions
    Event("definition.published", "a version became the published version", ("tenant", "definition_id", "version")),
    Event("definition.retracted", "the definition has no published version any more", ("tenant", "definition_id")),
    Event("definition.deleted", "a version was deleted", ("tenant", "definition_id", "version")),
    # -- bursts
    Event("segment.committed", "a segment was committed", (*_INSTANCE, "activities"), logging.DEBUG),
    Event(
        "burst.committed",
        "a node committed a burst: times of its begin, end and commit; `entries()` returns its journal",
        (*_INSTANCE, "trace", "began_ns", "ran_ns", "committed_ns", "entries"),
        logging.DEBUG,
    ),
    Event(
        "commit.lost",
        "a commit lost a conflict: it is retried or answered",
        ("tenant", "instance_id", "reason"),
        logging.DEBUG,
    ),
    Event(
        "work.taken",
        "a node claimed a work row; `late` is its delay",
        ("tenant", "kind", "queue", "late"),
        logging.DEBUG,
    ),
    # -- effects
    Event("effect.started", "an attempt of a recorded effect begins", _EFFECT, logging.DEBUG),
    Event("effect.finished", "an attempt returned a result", _EFFECT, logging.DEBUG),
    Event("effect.faulted", "an attempt raised", (*_EFFECT, "type"), logging.WARNING),
    Event("effect.canceled", "an attempt was canceled by Holdfast", (*_EFFECT, "cause"), logging.DEBUG),
    Event("effect.timed_out", "an attempt exceeded its timeout", _EFFECT, logging.WARNING),
    Event(
        "effect.taken_over",
        "another node continues an effect of a dead node",
        ("tenant", "instance_id", "activity_id", "attempt", "node"),
        logging.WARNING,
    ),
)

BY_NAME: Mapping[str, Event] = {event.name: event for event in EVENTS}

ALL_TENANTS = "*"
"""Subscribes to the events of every tenant that this process serves."""

listeners: list[Listener] = []
"""Active subscriptions. Check that it is not empty before building the fields of an event."""
_subscribers: dict[str, tuple[Listener, ...]] = {}
"""Listeners by event name; events without a listener have no entry."""


def wants(name: str) -> bool:
    """Whether the event has a listener. Check it before computing expensive fields."""
    return name in _subscribers


def emit(name: str, /, *, tenant: str, **fields: Any) -> None:
    """Call every listener of the tenant. An exception of a listener is logged; the other listeners and the engine continue."""
    found = _subscribers.get(name)
    if found is None:
        return
    fields = {"tenant": tenant, **fields}
    for listener in found:
        try:
            listener(name, fields)
        except Exception:
            logger.exception("A telemetry listener failed on %s; it stays subscribed. Fix or remove it.", name)


def subscribe(listener: Listener, *names: str, tenant: str = ALL_TENANTS) -> Callable[[], None]:
    """Subscribe to all events or to the named ones, of one tenant or of all. Returns a function that ends the subscription.
    Refuses names that are not in the table."""
    unknown = sorted(set(names) - BY_NAME.keys())
    if unknown:
        raise ValueError(f"No such event: {', '.join(unknown)}. The table is in docs/reference/events.md.")
    wanted = frozenset(names or BY_NAME)

    def notify(name: str, fields: Mapping[str, Any]) -> None:
        """A function per subscription, since one listener may have several."""
        if tenant in (ALL_TENANTS, fields["tenant"]):
            listener(name, fields)

    listeners.append(notify)
    for name in wanted:
        _subscribers[name] = (*_subscribers.get(name, ()), notify)

    def end() -> None:
        if notify not in listeners:
            return
        listeners.remove(notify)
        for name in wanted:
            left = tuple(other for other in _subscribers[name] if other is not notify)
            if left:
                _subscribers[name] = left
            else:
                del _subscribers[name]

    return end


@contextmanager
def on(listener: Listener, *names: str, tenant: str = ALL_TENANTS) -> Iterator[None]:
    """Listen inside a `with` block."""
    end = subscribe(listener, *names, tenant=tenant)
    try:
        yield
    finally:
        end()


def log_event(name: str, fields: Mapping[str, Any]) -> None:
    """A listener that writes each event to the logger `holdfast` at the level in the table. The text leaves out the default
    tenant, whose name is empty."""
    level = BY_NAME[name].level
    if logger.isEnabledFor(level):
        plain = {key: value for key, value in fields.items() if not callable(value)}
        words = " ".join(f"{key}={value}" for key, value in plain.items() if key != "tenant" or value)
        logger.log(level, "%s %s", name, words, extra={"event": name, "fields": plain})


# -- traces ------------------------------------------------------------------------------------------------------------

tracing: Callable[[str], str | None] | None = None
"""Returns the trace of a started instance as W3C `traceparent`; set by the plugin that creates spans."""


def trace_for(instance_id: str) -> str | None:
    """The current trace for a start; None without a tracing plugin."""
    return None if tracing is None else tracing(instance_id)


__all__ = [
    "ALL_TENANTS",
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
