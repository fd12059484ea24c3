"""OpenTelemetry plugin: spans from telemetry events.

    engine = Holdfast(store=…, plugins=[OpenTelemetry()])

    dispatch order            a request was accepted
    burst order               one burst of one instance, child of the trace that started the instance
        trigger checkout      the trigger that started it
        activity WriteLine    each activity that ran in it
        bookmark Event        each new bookmark
        resumed Event         each resumed bookmark
        commit                the commit of the burst
    effect charge             one attempt of an effect; spans of your own code nest in it

An instance stores the `traceparent` of its start (from the request header or the current span) and passes it to its
children and to the events that it publishes. Every burst joins that trace, on any node and after any wait. An instance
without a trace gets one derived from its id. Without this plugin there are no listeners, and an event costs one check
of an empty list.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from hashlib import blake2b
from typing import Any, Protocol
from weakref import WeakKeyDictionary

from opentelemetry import trace
from opentelemetry.context import Context as SpanContext
from opentelemetry.trace import Span, SpanKind, Status as SpanStatus, StatusCode, TracerProvider
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from holdfast import telemetry
from holdfast.model.instance import JournalEntry, JournalEvent
from holdfast.ports import MiddlewarePlacement, Registration

NAME = "opentelemetry"
SPANS_MAX = 200
"""Maximum number of activity spans per burst; a loop of a million activities must not create a million spans."""
_PROPAGATOR = TraceContextTextMapPropagator()
_ENDED = {JournalEvent.COMPLETED: "ok", JournalEvent.FAULTED: "faulted", JournalEvent.CANCELED: "canceled"}


class OpenTelemetry:
    """The plugin. After `close`, engines that use it create no more spans."""

    name = NAME
    needs = ("holdfast",)

    def __init__(self, tracer_provider: TracerProvider | None = None, *, activities: bool = True) -> None:
        self._tracer = trace.get_tracer("holdfast", tracer_provider=tracer_provider)
        self._activities = activities
        """Whether activities, bookmarks and triggers get spans; bursts, commits, effects and dispatches always do."""
        self._dispatching: WeakKeyDictionary[asyncio.Task[Any], Span] = WeakKeyDictionary()
        self._end: Callable[[], None] | None = None

    def register(self, registration: Registration) -> None:
        registration.middleware(MiddlewarePlacement(middleware=EffectSpans(self._tracer), name=NAME))
        if self._end is None:
            self._end = telemetry.subscribe(
                self._on_event, "burst.committed", "request.dispatching", "request.dispatched"
            )
            telemetry.tracing = trace_of_start

    def close(self) -> None:
        if self._end is not None:
            self._end()
            self._end = None
            telemetry.tracing = None

    # -- events --------------------------------------------------------------------------------------------------------

    def _on_event(self, name: str, fields: Mapping[str, Any]) -> None:
        if name == "burst.committed":
            self._burst(fields)
        else:
            self._dispatch(name, fields)

    def _dispatch(self, name: str, fields: Mapping[str, Any]) -> None:
        """A dispatcher emits an event before and after a request, in the same task."""
        task = asyncio.current_task()
        if task is None:
            return
        span = self._dispatching.pop(task, None)
        if name == "request.dispatching":
            if span is not None:  # The previous request of this task raised.
                span.set_status(SpanStatus(StatusCode.ERROR))
                span.end()
            given = {"holdfast.request": str(fields["request"]), "holdfast.target": str(fields["target"])}
            self._dispatching[task] = self._tracer.start_span(
                f"dispatch {fields['target']}", kind=SpanKind.PRODUCER, attributes=given
            )
        elif span is not None:
            span.set_attribute("holdfast.instance_ids", [str(item) for item in fields["instance_ids"]][:100])
            span.end()

    def _burst(self, fields: Mapping[str, Any]) -> None:
        began, ran, committed = fields["began_ns"], fields["ran_ns"], fields["committed_ns"]
        if not began:
            return  # The burst began before the subscription.
        context = context_of(fields["trace"], fields["instance_id"])
        names = _named(fields)
        span = self._tracer.start_span(
            f"burst {fields['definition_id']}", context, SpanKind.CONSUMER, names, start_time=began
        )
        inner = trace.set_span_in_context(span)
        entries: list[JournalEntry] = fields["entries"]()
        if any(entry.event is JournalEvent.INCIDENT for entry in entries):
            span.set_status(SpanStatus(StatusCode.ERROR))
        if self._activities:
            for made in _parts(entries, began)[:SPANS_MAX]:
                self._part(made, inner, names)
        commit = self._tracer.start_span("commit", inner, attributes=names, start_time=ran)
        commit.end(committed)
        span.end(committed)

    def _part(self, part: _Part, inner: SpanContext, names: dict[str, str]) -> None:
        title, attributes, start, end, failed = part
        span = self._tracer.start_span(title, inner, attributes={**names, **attributes}, start_time=start)
        if failed:
            span.set_status(SpanStatus(StatusCode.ERROR))
        span.end(end)


_Part = tuple[str, dict[str, Any], int, int, bool]
"""Title, attributes, start, end, whether it failed."""


def _parts(entries: list[JournalEntry], began: int) -> list[_Part]:
    """Spans of journal entries: triggers, activities, bookmarks, resumptions, ordered by end."""
    started: dict[int | None, int] = {}
    found: list[_Part] = []
    for entry in entries:
        at = int(entry.at.timestamp() * 1_000_000) * 1_000
        attributes = {"holdfast.activity_id": entry.activity_id or "", "holdfast.execution_id": entry.execution_id or 0}
        data = entry.data if isinstance(entry.data, Mapping) else {}
        kind = entry.activity_type or ""
        if entry.event is JournalEvent.STARTED:
            started[entry.execution_id] = at
        elif entry.event in _ENDED and entry.activity_type is not None:
            start = started.get(entry.execution_id, at)
            found.append((f"activity {kind}", attributes, start, max(at, start), entry.event is JournalEvent.FAULTED))
        elif entry.event is JournalEvent.SUSPENDED and "bookmark" in data:
            attributes["holdfast.bookmark"] = str(data["bookmark"])
            found.append((f"bookmark {data.get('name') or kind}", attributes, at, at, False))
        elif entry.event is JournalEvent.RESUMED:
            found.append((f"resumed {kind}", attributes, at, at, False))
        elif entry.event is JournalEvent.INSTANCE_STARTED and data.get("trigger"):
            found.append((f"trigger {data['trigger']}", attributes, min(began, at), at, False))
    return found


def _named(fields: Mapping[str, Any]) -> dict[str, str]:
    return {"holdfast.instance_id": fields["instance_id"], "holdfast.definition_id": fields["definition_id"]}


# -- effects -----------------------------------------------------------------------------------------------------------


class _EffectContext(Protocol):
    @property
    def instance_id(self) -> str: ...
    @property
    def definition_id(self) -> str: ...
    @property
    def activity_id(self) -> str: ...
    @property
    def attempt(self) -> int: ...
    @property
    def trace(self) -> str | None: ...


class EffectSpans:
    """Implements `EffectMiddleware`: a span around each attempt, which is current while the code runs."""

    def __init__(self, tracer: trace.Tracer) -> None:
        self._tracer = tracer

    async def around_effect(self, context: _EffectContext, proceed: Callable[[], Awaitable[Any]]) -> Any:
        parent = context_of(context.trace, context.instance_id)
        attributes: dict[str, Any] = {
            "holdfast.instance_id": context.instance_id,
            "holdfast.definition_id": context.definition_id,
            "holdfast.activity_id": context.activity_id,
            "holdfast.attempt": context.attempt,
        }
        with self._tracer.start_as_current_span(f"effect {context.activity_id}", parent, attributes=attributes):
            return await proceed()


# -- traces ------------------------------------------------------------------------------------------------------------


def context_of(traceparent: str | None, instance_id: str) -> SpanContext:
    """The trace of an instance."""
    return _PROPAGATOR.extract({"traceparent": traceparent or derived_traceparent(instance_id)})


def derived_traceparent(instance_id: str) -> str:
    """A trace derived from the instance id; equal on every node."""
    digest = blake2b(instance_id.encode(), digest_size=24).hexdigest()
    return f"00-{digest[:32]}-{digest[32:]}-01"


def trace_of_start(instance_id: str) -> str:
    """The current span at the start of an instance."""
    carrier: dict[str, str] = {}
    with suppress(Exception):  # A failing tracer must not prevent the start of an instance.
        _PROPAGATOR.inject(carrier)
    return carrier.get("traceparent") or derived_traceparent(instance_id)
