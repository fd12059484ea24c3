"""Celery as step dispatcher: a real broker, a real Celery worker in a process of its own."""

from __future__ import annotations

import asyncio
import importlib
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from holdfast import Status
from tests.support.services.brokers import broker_at_hand

pytest.importorskip("celery", reason="celery: not installed")
BROKER = broker_at_hand("redis")
FIXTURES = Path(__file__).parents[1] / "fixtures"


@pytest.fixture
async def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Any]:
    calls = tmp_path / "calls"
    calls.mkdir()
    for name, value in {
        "HOLDFAST_TEST_CELERY_BROKER": BROKER,
        "HOLDFAST_TEST_CELERY_STORE": f"sqlite:///{tmp_path / 'shop.db'}",
        "HOLDFAST_TEST_CELERY_PREFIX": f"hf{uuid4().hex[:8]}:",
        "HOLDFAST_TEST_CALLS": str(calls),
    }.items():
        monkeypatch.setenv(name, value)
    monkeypatch.syspath_prepend(str(FIXTURES))
    found = importlib.import_module("celery_shop")
    worker = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "celery", "-A", "celery_shop:celery", "worker", "-P", "solo", "-Q", "pictures"),
        *("--without-gossip", "--without-mingle", "-l", "INFO"),
        cwd=FIXTURES,
        env=dict(os.environ),
        stderr=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.DEVNULL,
    )
    assert worker.stderr is not None
    async with asyncio.timeout(60):
        async for line in worker.stderr:
            if b"ready" in line:
                break
    reading = asyncio.create_task(worker.stderr.read())
    yield found
    worker.kill()
    await worker.wait()
    await reading
    sys.modules.pop("celery_shop")


async def test_a_celery_worker_runs_a_step_and_the_segment_after_it(shop: Any, tmp_path: Path) -> None:
    async with shop.engine() as app:
        answer = await app.runtime.start(shop.pictures, {"start": 13})
        identity = answer.result.instance_id
        async with asyncio.timeout(60):
            result = await app.runtime.wait_at_rest(identity)

    assert result.status is Status.FINISHED, result.incidents
    assert result.variables["width"] == 52
    calls = [path.name.split(".") for path in (tmp_path / "calls").iterdir()]
    assert sorted(attempt for _, _, attempt in calls) == ["1", "1", "2"]
    assert {pid for pid, _, _ in calls}.isdisjoint({str(os.getpid())})  # Who finished the step ran what follows.
