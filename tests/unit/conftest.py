"""An engine whose time stands still, closed after the test."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest

from holdfast import Holdfast, Runner, RunResult
from holdfast.testing.clock import VirtualClock
from tests.support.memory_node import MemoryNode
from tests.support.status_watch import StatusWatch

MakeEngine = Callable[..., Holdfast]


@pytest.fixture(scope="session")
def status_watch() -> Iterator[StatusWatch]:
    watch = StatusWatch()
    watch.install()
    yield watch
    watch.remove()


@pytest.fixture(autouse=True)
def _statuses_change_as_the_table_says(status_watch: StatusWatch) -> Iterator[None]:
    status_watch.illegal.clear()
    yield
    assert status_watch.illegal == []


@pytest.fixture
def clock() -> VirtualClock:
    """Jumps to whatever is waited for."""
    return VirtualClock()


@pytest.fixture
def make_engine(clock: VirtualClock) -> Iterator[MakeEngine]:
    made: list[Holdfast] = []

    def make(**given: Any) -> Holdfast:
        engine = Holdfast(**{"clock": clock, "entry_points": False, **given})
        made.append(engine)
        return engine

    yield make
    for engine in made:
        engine.close()


@pytest.fixture
def runner(make_engine: MakeEngine) -> Runner:
    return make_engine().runner


@pytest.fixture
async def memory() -> AsyncIterator[MemoryNode]:
    """A started node on a store in memory."""
    async with MemoryNode() as node:
        yield node


@pytest.fixture
def through_json() -> Callable[[Runner, RunResult, Any], RunResult]:
    """The result as another process sees it: exported, written as JSON text, read, imported."""

    def carry(runner: Runner, result: RunResult, workflow: Any) -> RunResult:
        return runner.load(json.loads(json.dumps(result.state)), workflow)

    return carry
