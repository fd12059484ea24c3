"""Spans of a real runtime: in memory, and over OTLP to a receiver on this machine."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from datetime import timedelta

import pytest
from aiohttp import web
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from holdfast import Holdfast, Workflow, activity, telemetry
from holdfast.activities import Event, ExecuteWorkflow, Sequence, WriteLine
from holdfast.integrations.opentelemetry import OpenTelemetry, derived_traceparent
from holdfast.model.requests import DispatchDefinition


@activity
async def charge() -> str:
    with trace.get_tracer("theirs", tracer_provider=PROVIDERS[-1]).start_as_current_span("bank"):
        return "charged"


@activity
async def stumble() -> None:
    raise ConnectionError("no way")


PROVIDERS: list[TracerProvider] = []

child = Workflow(WriteLine("child"), id="child")
order = Workflow(
    Sequence(charge.bind(), ExecuteWorkflow("child", wait=True), Event("paid"), WriteLine("done")), id="order"
)
broken = Workflow(stumble.bind(), id="broken")


class Spans:
    def __init__(self) -> None:
        self.exporter = InMemorySpanExporter()
        self.provider = TracerProvider()
        self.provider.add_span_processor(SimpleSpanProcessor(self.exporter))

    def all(self) -> list[ReadableSpan]:
        return list(self.exporter.get_finished_spans())

    def named(self, name: str) -> list[ReadableSpan]:
        return [span for span in self.all() if span.name == name]

    def effects(self) -> list[ReadableSpan]:
        return [span for span in self.all() if span.name.startswith("effect ")]


@pytest.fixture
def spans() -> Iterator[Spans]:
    made = Spans()
    PROVIDERS.append(made.provider)
    yield made
    PROVIDERS.pop()
    made.provider.shutdown()


@pytest.fixture
async def engine(spans: Spans) -> AsyncIterator[Holdfast]:
    plugin = OpenTelemetry(spans.provider)
    made = Holdfast(
        store="memory://", entry_points=False, plugins=[plugin], workflows=[order, child, broken], cancel_grace="1s"
    )
    try:
        async with asyncio.timeout(30), made:
            yield made
    finally:
        plugin.close()


def ids(span: ReadableSpan) -> tuple[int, int]:
    assert span.context is not None
    return span.context.trace_id, span.context.span_id


async def run_order(engine: Holdfast, spans: Spans) -> str:
    runtime = engine.runtime
    with trace.get_tracer("web", tracer_provider=spans.provider).start_as_current_span("POST /orders"):
        answer = await runtime.dispatcher.dispatch(DispatchDefinition(definition_id="order"))
    identity = str(answer.instance_id)
    seen = -1
    async with asyncio.timeout(20):
        while not (found := await runtime.read(identity)).bookmarks:
            seen = await runtime.store.wait_for_change(seen, timedelta(seconds=1))
    await runtime.resume(identity, found.bookmarks[0].id)
    await runtime.wait_at_rest(identity)
    return identity


async def test_everything_an_instance_does_is_one_trace(engine: Holdfast, spans: Spans) -> None:
    await run_order(engine, spans)

    (web_span,) = spans.named("POST /orders")
    trace_id, span_id = ids(web_span)
    bursts = spans.named("burst order")
    assert len(bursts) >= 3  # before the effect, after it, after the sleep
    assert {ids(span)[0] for span in spans.all()} == {trace_id}
    assert {span.parent.span_id for span in bursts if span.parent} == {span_id}
    assert {span.name for span in spans.all()} >= {
        "dispatch order",
        "burst order",
        "burst child",
        "activity WriteLine",
        "bookmark Event",
        "resumed Event",
        "commit",
        "bank",
    }
    (effect,), (bank,) = spans.effects(), spans.named("bank")
    assert bank.parent is not None
    assert bank.parent.span_id == ids(effect)[1]
    inside = {ids(span)[1] for span in bursts}
    assert all(span.parent is not None for span in spans.named("commit"))
    assert {span.parent.span_id for span in spans.named("bookmark Event") if span.parent} <= inside


async def test_a_burst_takes_time_and_its_commit_ends_it(engine: Holdfast, spans: Spans) -> None:
    await run_order(engine, spans)

    for burst in spans.named("burst order"):
        (commit,) = [
            span for span in spans.named("commit") if span.parent is not None and span.parent.span_id == ids(burst)[1]
        ]
        assert burst.start_time is not None
        assert commit.start_time is not None
        assert burst.start_time <= commit.start_time
        assert commit.end_time == burst.end_time


async def test_an_instance_that_nobodys_trace_began_has_one_of_its_own(engine: Holdfast, spans: Spans) -> None:
    answer = await engine.runtime.start(broken)
    assert answer.result is not None
    await engine.runtime.wait_at_rest(answer.result.instance_id)

    wanted = int(derived_traceparent(answer.result.instance_id).split("-")[1], 16)
    assert {ids(span)[0] for span in spans.all()} == {wanted}
    (effect,) = spans.effects()
    assert not effect.status.is_ok
    assert "no way" in str(effect.events[0].attributes)


async def test_without_the_plugin_nobody_listens(spans: Spans) -> None:
    others = list(telemetry.listeners)  # of applications in this process that nobody has closed
    plugin = OpenTelemetry(spans.provider)
    Holdfast(entry_points=False, plugins=[plugin]).close()
    assert telemetry.listeners != others
    plugin.close()

    assert telemetry.listeners == others
    assert telemetry.trace_for("x") is None


async def test_over_otlp_to_a_receiver(spans: Spans) -> None:
    received: list[ExportTraceServiceRequest] = []

    async def take(request: web.Request) -> web.Response:
        received.append(ExportTraceServiceRequest.FromString(await request.read()))
        return web.Response(body=b"", content_type="application/x-protobuf")

    app = web.Application()
    app.router.add_post("/v1/traces", take)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    port = site._server.sockets[0].getsockname()[1]  # type: ignore[union-attr]
    spans.provider.add_span_processor(
        BatchSpanProcessor(OTLPSpanExporter(endpoint=f"http://127.0.0.1:{port}/v1/traces"))
    )
    plugin = OpenTelemetry(spans.provider)
    try:
        async with Holdfast(store="memory://", entry_points=False, plugins=[plugin]) as engine:
            await engine.runtime.start(child)
        assert await asyncio.to_thread(spans.provider.force_flush)
    finally:
        plugin.close()
        await runner.cleanup()

    names = [
        span.name
        for request in received
        for resource in request.resource_spans
        for scope in resource.scope_spans
        for span in scope.spans
    ]
    assert {"burst child", "activity WriteLine", "commit"} <= set(names)
