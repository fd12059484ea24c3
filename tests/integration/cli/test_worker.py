"""What Kubernetes and Prometheus see of a worker: it starts, works, loses its store, drains and is gone."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from datetime import timedelta
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from prometheus_client.parser import text_string_to_metric_families

from holdfast import Holdfast, Workflow, __version__
from holdfast.activities import WriteLine
from holdfast.cli.probe_answers import listen_for_probes, probed
from holdfast.cli.sockets import address_of
from holdfast.engine.worker import Worker, WorkerOptions
from holdfast.runtime.observability import readiness
from holdfast.server.schemas.operations import Health
from holdfast.testing.transport_contract import Wire
from holdfast.testing.worker_process import WorkerProcess
from tests.integration.fixtures import gated

FIXTURES = Path(__file__).parents[1] / "fixtures"
hello = Workflow(WriteLine("hello"), id="hello")

Made = Callable[..., "Probed"]


class Probed:
    """A worker in a process of its own, at whatever port is free."""

    def __init__(self, session: aiohttp.ClientSession, process: WorkerProcess) -> None:
        self.process = process
        self._session = session

    @property
    def url(self) -> str:
        return next(line for line in self.process.said if "probes at" in line).rpartition(" ")[2]

    async def ask(self, path: str) -> tuple[int, Any]:
        return await ask(self._session, self.url + path)

    async def figures(self) -> dict[str, float]:
        status, text = await self.ask("/metrics")
        assert status == 200, text
        return figures(text)

    async def until(self, path: str, status: int) -> Any:
        while True:
            found, body = await self.ask(path)
            if found == status:
                return body
            await asyncio.sleep(0.05)


async def ask(session: aiohttp.ClientSession, url: str) -> tuple[int, Any]:
    async with session.get(url) as answer:
        text = await answer.text()
        return answer.status, json.loads(text) if answer.content_type == "application/json" else text


def figures(text: str) -> dict[str, float]:
    return {
        ",".join([sample.name, *sample.labels.values()]): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


@pytest.fixture
async def session() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession() as made:
        yield made


@pytest.fixture
async def worker(session: aiohttp.ClientSession) -> AsyncIterator[Made]:
    async with AsyncExitStack() as stack:

        def make(store: str, *arguments: str, **environment: str) -> Probed:
            process = WorkerProcess(
                "probed",
                store=store,
                modules=["gated"],
                folder=FIXTURES,
                arguments=("--probe", "0", *arguments),
                environment=environment,
            )
            stack.push_async_callback(process.close)
            return Probed(session, process)

        yield make


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'holdfast.db'}"


async def test_a_worker_is_ready_works_drains_and_is_gone(worker: Made, url: str, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    found = worker(url, **{gated.PIPE: str(pipe)})
    await found.process.start()
    async with (
        asyncio.timeout(60),
        Holdfast(store=url, entry_points=False, worker=False, workflows=[gated.gated]) as app,
    ):
        assert (await found.ask("/health/ready"))[0] == 200
        await app.runtime.start(gated.gated, instance_id="i")
        opened = await asyncio.to_thread(pipe.open, "w")  # As soon as the effect reads.
        during = await found.figures()
        found.process.terminate()
        draining = await found.until("/health/ready", 503)
        alive = await found.ask("/health/live")
        still = await found.ask("/metrics")
        opened.write("go on")
        opened.close()
        assert await found.process.ended() == 0
        assert (await app.runtime.wait_at_rest("i")).variables["said"] == "go on"

    assert during["holdfast_work_taken_total,timer"] == 1
    assert during["holdfast_bursts_total"] >= 1
    assert during["holdfast_effects_open"] == 1
    assert during["holdfast_store_up"] == 1
    assert during["holdfast_nodes_alive"] == 2
    assert during["holdfast_process_resident_memory_bytes"] > 0
    assert draining["status"] == "unavailable"
    assert "drain" in draining["reasons"][0]
    assert alive == (200, {"status": "ok", "version": __version__, "reasons": [], "warnings": []})
    assert still[0] == 200
    with pytest.raises(aiohttp.ClientConnectorError):
        await found.ask("/health/live")


@pytest.mark.service("postgres")
async def test_while_its_store_is_away_a_worker_lives_and_is_not_ready(worker: Made, servers: dict[str, str]) -> None:
    url = servers["postgresql"]
    wire = await Wire.to(url, 5432)
    try:
        async with asyncio.timeout(60):
            found = worker(wire.url(url), HOLDFAST_STORE_RETRIES="1", HOLDFAST_STORE_RETRY_DELAY="10ms")
            await found.process.start()
            assert (await found.ask("/health/ready"))[0] == 200
            await wire.down()
            away = await found.until("/health/ready", 503)
            assert (await found.ask("/health/live"))[0] == 200
            assert (await found.figures())["holdfast_store_up"] == 0
            await wire.up()
            await found.until("/health/ready", 200)
        assert "The store does not answer" in away["reasons"][0]
    finally:
        await wire.close()


@pytest.mark.service("postgres")
async def test_a_store_that_hangs_is_told_in_time(
    servers: dict[str, str], session: aiohttp.ClientSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever probes would have given up long before the store does."""
    monkeypatch.setattr(readiness, "STORE_TIMEOUT", timedelta(milliseconds=200))
    url = servers["postgresql"]
    wire = await Wire.to(url, 5432)
    engine = Holdfast(entry_points=False)
    made = Worker(engine, WorkerOptions(name="hanging"), store=wire.url(url))
    sockets = listen_for_probes("0")
    asked = f"{address_of(sockets[0])}/health/ready"
    ready = asyncio.Event()
    try:
        async with asyncio.timeout(60), probed(made, sockets):
            running = asyncio.create_task(made.run(lambda _: ready.set()))
            await ready.wait()
            status = 200
            while status == 200:  # A new connection answers once.
                wire.hush()
                status, told = await ask(session, asked)
            wire.cut()
            while status != 200:
                status, _ = await ask(session, asked)
            made.stop()
            await running
    finally:
        await wire.close()
        engine.close()

    assert "has not answered for" in told["reasons"][0]


async def test_figures_of_several_tenants_are_told_together(worker: Made, url: str) -> None:
    found = worker(url, "--tenants", "acme,globex")
    await found.process.start()
    for tenant in ("acme", "globex"):
        async with Holdfast(store=url, tenant=tenant, entry_points=False, workflows=[hello]) as app:
            await app.runtime.start(hello, instance_id="i")
            await app.runtime.wait_at_rest("i")

    assert (await found.ask("/health/ready"))[0] == 200
    assert (await found.figures())["holdfast_instances,finished"] == 2


async def test_one_that_is_paused_or_not_open_is_not_ready(session: aiohttp.ClientSession, url: str) -> None:
    engine = Holdfast(entry_points=False)
    made = Worker(engine, WorkerOptions(name="here"), store=url)
    sockets = listen_for_probes("0")
    address = address_of(sockets[0])
    ready = asyncio.Event()
    async with asyncio.timeout(60), probed(made, sockets):
        before = await ask(session, f"{address}/health/ready")
        assert (await ask(session, f"{address}/metrics"))[0] == 503
        running = asyncio.create_task(made.run(lambda _: ready.set()))
        await ready.wait()
        assert await ask(session, f"{address}/health/ready") == (
            200,
            Health(status="ok", version=__version__).model_dump(),
        )
        made.runtimes[0].nodes.pause_intake()
        paused = await ask(session, f"{address}/health/ready")
        made.runtimes[0].nodes.resume_intake()
        assert (await ask(session, f"{address}/health/ready"))[0] == 200
        made.stop()
        assert await running
        assert (await ask(session, f"{address}/health/ready"))[0] == 503
        assert (await ask(session, f"{address}/health"))[0] == 200
    engine.close()

    assert before == (503, _unavailable("The worker has not started."))
    assert paused == (503, _unavailable("This node is paused: it takes no new work."))


def _unavailable(reason: str) -> dict[str, Any]:
    return Health(status="unavailable", version=__version__, reasons=[reason]).model_dump()


BARE = """
import sys
for name in ("fastapi", "prometheus_client", "pydantic", "starlette", "uvicorn", "argon2", "jwt"):
    sys.modules[name] = None
from holdfast.cli import main
main()
"""
"""The command as it runs where the extra `server` is not installed."""


async def test_without_what_a_server_needs_there_are_probes_and_no_figures(
    session: aiohttp.ClientSession, url: str
) -> None:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", BARE, "worker", "--store", url, "--probe", "0"), stderr=asyncio.subprocess.PIPE
    )
    try:
        async with asyncio.timeout(60):
            assert process.stderr is not None
            said = (await process.stderr.readline()).decode()
            address = said.split()[-1]
            assert (await ask(session, f"{address}/health/ready"))[0] == 200
            status, words = await ask(session, f"{address}/metrics")
            process.terminate()
            assert await process.wait() == 0
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()

    assert status == 501
    assert "holdfast[metrics]" in words
