"""One engine for all examples, and a way to run a workflow in the smallest steps with a trip through JSON between them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import pytest

from holdfast import Holdfast, Runner, RunResult
from holdfast.execution import segment
from holdfast.testing.clock import VirtualClock

Act = Callable[[Runner], Awaitable[Any]]


@pytest.fixture(scope="session")
def engine() -> Iterator[Holdfast]:
    made = Holdfast(clock=VirtualClock(), entry_points=False)
    yield made
    made.close()


@pytest.fixture(scope="session")
def perform(engine: Holdfast) -> Iterator[Callable[[Act], Any]]:
    """Run something asynchronous: hypothesis calls plain functions."""
    with asyncio.Runner() as loop:
        yield lambda act: loop.run(_awaited(act, engine.runner))


async def _awaited(act: Act, runner: Runner) -> Any:
    return await act(runner)


@pytest.fixture(scope="session")
def carry() -> Callable[[Runner, RunResult, Any], RunResult]:
    """Exported, written as JSON text, read, imported; the lines written so far go along."""

    def carried(runner: Runner, result: RunResult, workflow: Any) -> RunResult:
        loaded = runner.load(json.loads(json.dumps(result.state)), workflow)
        loaded.lines.extend(result.lines)
        return loaded

    return carried


@pytest.fixture
def stride(monkeypatch: pytest.MonkeyPatch) -> None:
    """Segments look at their limits after each activity."""
    monkeypatch.setattr(segment, "STRIDE", 1)
