"""Responses of `holdfast worker --probe`: the same as those of a server, without the server's dependencies."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from http import HTTPStatus
from socket import socket
from typing import TYPE_CHECKING

import msgspec

from holdfast import __version__
from holdfast.cli.failures import BadInput
from holdfast.cli.probe_server import Answers, Probe, ProbeRequest, Reply
from holdfast.cli.sockets import listen
from holdfast.engine.worker import Worker
from holdfast.management.health import missing_code_warnings, why_unready

if TYPE_CHECKING:
    from holdfast.management.metrics import Metrics

HOST = "127.0.0.1"
NO_PROMETHEUS = b"Metrics need the package 'prometheus_client'. Install it with: pip install 'holdfast[metrics]'\n"


def listen_for_probes(text: str) -> list[socket]:
    """Listens at `PORT` or `HOST:PORT`; no sockets for an empty text."""
    if not text:
        return []
    host, _, port = text.rpartition(":")
    if not (port.isascii() and port.isdigit() and int(port) <= 65535) or (host.count(":") and not host.startswith("[")):
        raise BadInput(
            f"'{text}' is not an address for probes. Set --probe (or HOLDFAST_PROBE) to PORT or HOST:PORT, such as 9600, "
            "0.0.0.0:9600 or [::]:9600."
        )
    remedy = "Choose another address for --probe (or HOLDFAST_PROBE); port 0 selects a free port."
    return listen(host.strip("[]") or HOST, int(port), remedy)


@asynccontextmanager
async def probed(worker: Worker, sockets: Sequence[socket]) -> AsyncIterator[None]:
    """Answers probes inside the block, from before the worker opens until after it closes."""
    if not sockets:
        yield
        return
    metrics = _metrics(worker)
    async with Probe(sockets, _answers(worker, metrics)):
        try:
            yield
        finally:
            if metrics is not None:
                await metrics.close()


def _metrics(worker: Worker) -> Metrics | None:
    try:
        from holdfast.management.metrics import Metrics
    except ModuleNotFoundError as error:
        if error.name != "prometheus_client":
            raise
        return None
    made = Metrics(worker.runtimes)
    made.open()
    return made


def _answers(worker: Worker, metrics: Metrics | None) -> Answers:
    async def live(_: ProbeRequest) -> Reply:
        return _health([])

    async def ready(_: ProbeRequest) -> Reply:
        reasons = await _why_unready(worker)
        return _health(reasons, [] if reasons else await missing_code_warnings(worker.runtimes))

    async def figures(request: ProbeRequest) -> Reply:
        if metrics is None:
            return Reply(HTTPStatus.NOT_IMPLEMENTED, NO_PROMETHEUS)
        if not worker.is_open:
            return Reply(HTTPStatus.SERVICE_UNAVAILABLE, b"The worker has not started, or has stopped.\n")
        body, kind = await metrics.render(request.headers.get("accept", ""))
        return Reply(HTTPStatus.OK, body, kind)

    return {"/health": live, "/health/live": live, "/health/ready": ready, "/metrics": figures}


async def _why_unready(worker: Worker) -> list[str]:
    if worker.is_stopping:
        return ["The worker is draining or has stopped: it takes no new work."]
    if not worker.is_open:
        return ["The worker has not started."]
    reasons = await why_unready(worker.runtimes)
    if any(runtime.intake.paused for runtime in worker.runtimes):
        reasons.append("This node is paused: it takes no new work.")
    return reasons


def _health(reasons: list[str], warnings: Sequence[str] = ()) -> Reply:
    """Same format as the server's `Health`."""
    status_text = "unavailable" if reasons else "ok"
    body = {"status": status_text, "version": __version__, "reasons": reasons, "warnings": warnings}
    status = HTTPStatus.SERVICE_UNAVAILABLE if reasons else HTTPStatus.OK
    return Reply(status, msgspec.json.encode(body), "application/json")
