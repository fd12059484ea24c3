"""`holdfast instances recover` on a store: somebody's word for an effect that was lost with its process."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from holdfast import Holdfast
from holdfast.cli.references import code_of
from holdfast.model.instance import Status
from tests.unit.cli.conftest import Call

URL = "sqlite:///kept.db"
WHERE = ("--store", URL, "--activities", "held_payments")
PAYMENTS = """
import asyncio
from pathlib import Path
from holdfast import OnLost, activity, workflow

begun = asyncio.Event()

@activity(on_lost=OnLost.HOLD)
async def pay() -> str:
    if Path("tried").exists():
        return "paid"
    Path("tried").touch()
    begun.set()
    await asyncio.Event().wait()

@workflow
async def settle() -> str:
    return await pay()
"""


def engine() -> Holdfast:
    code = code_of(("held_payments",))
    return Holdfast(activities=code.activities, definitions=code.workflows)


async def begin() -> str:
    """Start it in a process that is stopped while it pays."""
    import held_payments  # type: ignore[import-not-found]

    made = engine()
    store = made.store(URL)
    await store.open()
    async with made.runtime_on(store) as runtime:
        answer = await runtime.start(held_payments.settle)
        await held_payments.begun.wait()
    await store.close()
    assert answer.result is not None
    return answer.result.instance_id


async def work(instance_id: str) -> Status:
    """A worker that takes up what is there, until the instance has ended."""
    made = engine()
    store = made.store(URL)
    await store.open()
    async with made.runtime_on(store) as runtime:
        runtime.take_work()
        ended = await runtime.wait_at_rest(instance_id)
    await store.close()
    return ended.status


@pytest.fixture
def held(folder: Path) -> str:
    (folder / "held_payments.py").write_text(PAYMENTS)
    code_of(("held_payments",))
    return asyncio.run(begin())


def test_what_is_held_runs_again_when_somebody_says_so(call: Call, held: str) -> None:
    retried = call("instances", "retry", held, *WHERE)
    assert retried.exit_code == 1
    assert retried.stdout == ""
    assert f"holdfast instances recover {held}" in retried.stderr
    looked = call("doctor", "instance", held, *WHERE)
    assert f"holdfast instances recover {held}" in " ".join(looked.stdout.split())

    told = call("instances", "recover", held, "--why", "the bank has no trace", *WHERE)
    assert (told.exit_code, told.stdout) == (0, f"{held} 1 effect runs again\n")
    assert "holdfast worker" in told.stderr
    journal = json.loads(call("instances", "journal", held, "--json", *WHERE).stdout)
    (operated,) = [item for item in journal if item["event"] == "operated"]
    assert (operated["data"]["verb"], operated["data"]["why"]) == ("recover", "the bank has no trace")
    assert operated["data"]["who"]

    assert asyncio.run(work(held)) is Status.FINISHED


def test_where_nothing_is_held_the_remedy_is_told(call: Call, held: str) -> None:
    call("instances", "recover", held, *WHERE)
    again = call("instances", "recover", held, *WHERE)
    assert (again.exit_code, again.stdout) == (1, "")
    assert f"holdfast doctor instance {held}" in again.stderr
    assert f"holdfast instances retry {held}" in again.stderr
    gone = call("instances", "recover", "nobody", *WHERE)
    assert gone.exit_code == 2
    assert "There is no instance 'nobody'" in gone.stderr
