"""The runner without a store keeps the promises of rule M1 as the runtime does (`tests/integration/test_cancel_matrix.py`)."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from holdfast import Holdfast, RunResult, Status
from holdfast.runtime.inline.runner import Runner
from holdfast.testing.clock import VirtualClock
from tests.support import saga_stage as sagas
from tests.support.saga_stage import MOMENTS, check, stage

STOPS = {name: moment for name, moment in MOMENTS.items() if moment.stop is not None}
CASES = [
    (name, act)
    for name, moment in STOPS.items()
    for act in ("cancel", "terminate", "timeout")
    if not (moment.canceled and act == "timeout")  # A canceled instance has no timeout any more.
]
WAITS = {name: moment for name, moment in MOMENTS.items() if moment.waits is not None and not moment.canceled}


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock(jump=False)


@pytest.fixture
async def runner(clock: VirtualClock) -> AsyncIterator[Runner]:
    stage.renew()
    app = Holdfast(entry_points=False, clock=clock, activities=sagas.ACTIVITIES)
    yield app.runner
    app.close()


@pytest.mark.parametrize(("name", "act"), CASES)
async def test_while_an_activity_runs(runner: Runner, clock: VirtualClock, name: str, act: str) -> None:
    moment = STOPS[name]
    first = "pay" if moment.canceled else str(moment.stop)
    stage.stops["i"] = {first, str(moment.stop)}
    if moment.fails is not None:
        stage.fails["i"].add(moment.fails)
    running = runner.start(sagas.saga(waits=False), instance_id="i")
    await stage.reached("i", f"+{first}")
    if moment.canceled:
        running.cancel()
        await stage.reached("i", "!pay")
        stage.release["i"].set()
        stage.release["i"].clear()
        await stage.reached("i", f"+{moment.stop}")
    before = len(stage.log["i"])

    if act == "timeout":
        clock.advance(sagas.LIMIT)
    else:
        running.cancel(terminate=act == "terminate")
        running.cancel(terminate=act == "terminate")
    if name == "effect" or act == "terminate":
        await stage.reached("i", f"!{moment.stop}")
    stage.release["i"].set()
    ended = await running.result()

    check(name, moment, act, stage.log["i"], before)
    check_end(ended, act)


@pytest.mark.parametrize("act", ["cancel", "terminate"])
@pytest.mark.parametrize("name", WAITS)
async def test_while_it_waits(runner: Runner, name: str, act: str) -> None:
    moment = WAITS[name]
    if moment.fails is not None:
        stage.fails["i"].add(moment.fails)
    result = await runner.run(sagas.saga(asks=moment.asks), instance_id="i")
    if moment.goes:
        result = await runner.resume(result, mark_of(result))
    before = len(stage.log["i"])

    result = await runner.cancel(result, terminate=act == "terminate")
    while not result.status.at_rest:
        assert result.status is Status.CANCELING
        result = await runner.resume(result, mark_of(result))

    check(name, moment, act, stage.log["i"], before)
    check_end(result, act)


def mark_of(result: RunResult) -> str:
    (mark,) = [item.id for item in result.bookmarks if item.kind == "activity"]
    return mark


def check_end(result: RunResult, act: str) -> None:
    live = result._live
    assert result.status is (Status.FAULTED if act == "timeout" else Status.CANCELED)
    assert (live.effects, live.ending, live.bookmarks, live.cleanup.data) == ({}, {}, {}, [])


async def test_an_exported_instance_whose_effects_no_process_runs_goes_on(runner: Runner) -> None:
    """Its state lists a canceled effect that has not ended."""
    stage.stops["i"].add("pay")
    workflow = sagas.saga(waits=False)
    running = runner.start(workflow, instance_id="i")
    await stage.reached("i", "+pay")
    running.cancel()
    await stage.reached("i", "!pay")
    state = RunResult(running._driver.live, [], {}).state
    assert [entry[1] for entry in state["ending"]] == ["pay"]

    moved = await runner.wait_out(runner.load(state, workflow))
    stage.release["i"].set()
    await running.result()

    assert moved.status is Status.CANCELED
    assert [entry.data["ended"] for entry in moved.journal if entry.event == "effect_ended"] == ["lost"]
