"""The runner of steps: it owns a step, settles the ticket, then launches; a step that it cannot take is given back."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest

from holdfast.errors import CodeMissing, StateUnreadable, StoreUnavailable
from holdfast.model.commit import Commit
from holdfast.model.stored import InstanceKey, InstanceRow
from holdfast.model.work import NO_OWNER, EffectRef, EffectRow
from holdfast.persistence.memory import MemoryStore
from holdfast.runtime.commits.in_hand import InstancesInHand
from holdfast.runtime.commits.instance_cache import InstanceCache
from holdfast.runtime.intake import Intake
from holdfast.runtime.liveness import Liveness
from holdfast.runtime.membership import Membership
from holdfast.runtime.observability.outage_log import OutageLog
from holdfast.runtime.plans.obstacles import Obstacles
from holdfast.runtime.service import BackgroundTasks
from holdfast.runtime.steps import runner as runner_module
from holdfast.runtime.steps.capacity import StepCapacity
from holdfast.runtime.steps.queue_share import QueueShare
from holdfast.runtime.steps.runner import StepRunner

LEASE = timedelta(seconds=30)
KEY = InstanceKey("acme", "i1")


class FakeTicket:
    """Records the calls of the runner."""

    def __init__(self, content: str = "") -> None:
        self.key, self.ref, self.content = KEY, EffectRef(1, 1, NO_OWNER), content
        self.values: Sequence[Any] | None = None
        self.calls: list[Any] = []

    async def settle(self) -> None:
        self.calls.append("settle")

    async def give_back(self) -> None:
        self.calls.append("give back")

    async def wait(self, values: Sequence[Any], pause: timedelta) -> None:
        self.calls.append((values, pause))

    async def park(self, name: str) -> None:
        self.calls.append(f"park {name}")


class FakePlans:
    def __init__(self) -> None:
        self.error: Exception | None = None
        self.obstacles = Obstacles(set())

    def of(self, tenant: str) -> FakePlans:
        return self

    async def plan(self, content: str) -> None:
        if self.error is not None:
            raise self.error


class FakeLimit:
    """A limit per value with a fixed answer."""

    def __init__(self, pause: timedelta | None) -> None:
        self.pause = pause
        self.ended: list[Any] = []

    async def values_of(self, row: EffectRow, content: str) -> list[tuple[str, str]]:
        return [("customer", "ada")]

    async def start(self, values: Sequence[Any]) -> timedelta | None:
        return self.pause

    async def end(self, values: Sequence[Any]) -> None:
        self.ended += values


class Bench:
    """A runner on a store with one open step; launched steps run until the test ends them."""

    def __init__(self, limit: FakeLimit | None = None) -> None:
        self.store = MemoryStore()
        self.plans = FakePlans()
        self.membership = Membership("a")
        self.in_hand = InstancesInHand()
        self.launched: list[EffectRow] = []
        self.keeps_running = True
        self.launch_error: Exception | None = None
        per_value: Any = limit
        self.share = QueueShare(["mail@acme"], per_value=per_value)
        self.background = BackgroundTasks("a test task failed")
        capacity = StepCapacity(Liveness(LEASE), Intake(), [self.share], 8, self.background)
        plans: Any = self.plans
        running: Any = self
        self.runner = StepRunner(
            self.store,
            self.membership,
            self.in_hand,
            InstanceCache(self.store),
            plans,
            self.launch,
            running,
            capacity,
            OutageLog("a"),
        )

    async def launch(self, row: EffectRow) -> None:
        assert self.in_hand.has(KEY)
        if self.launch_error is not None:
            raise self.launch_error
        self.launched.append(row)

    def has(self, key: Any) -> bool:
        return self.keeps_running and bool(self.launched)

    async def open(self) -> Bench:
        registration = await self.store.register_node("a", time_to_live=LEASE)
        self.membership.join(registration, lambda: 0)
        now = await self.store.now()
        effect = EffectRow("i1", 1, "charge", "Charge", now, queue="mail@acme", tenant="acme")
        instance = InstanceRow("i1", 1, "b", "running", "", "order", 1, now, now, tenant="acme")
        await self.store.commit([Commit("b", tenant="acme", instance=instance, effects_added=(effect,))])
        return self

    async def owner(self) -> object:
        (row,) = await self.store.effects_of(*KEY)
        return row.owner


@pytest.fixture(autouse=True)
def _no_delay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner_module, "GIVE_BACK_DELAY_SECONDS", 0.0)


async def test_a_step_is_owned_then_settled_then_launched() -> None:
    bench, ticket = await Bench().open(), FakeTicket()

    assert await bench.runner.run(ticket, bench.share)

    assert (await bench.owner(), ticket.calls) == (bench.membership.owner, ["settle"])
    assert [row.owner for row in bench.launched] == [bench.membership.owner]
    assert bench.share.running == {(KEY, 1)}
    assert not bench.in_hand.has(KEY)


async def test_a_second_ticket_of_a_step_is_settled_and_runs_nothing() -> None:
    bench = await Bench().open()
    await bench.runner.run(FakeTicket(), bench.share)
    again = FakeTicket()

    assert not await bench.runner.run(again, bench.share)

    assert (again.calls, len(bench.launched)) == (["settle"], 1)


async def test_a_step_that_has_nothing_left_to_run_frees_its_place() -> None:
    bench = await Bench().open()
    bench.keeps_running = False

    assert await bench.runner.run(FakeTicket(), bench.share)

    assert bench.share.running == set()


@pytest.mark.parametrize(
    "error", [CodeMissing("order", "'pack' is gone", content="c0ffee"), StateUnreadable("i", "gone", content="c0ffee")]
)
async def test_a_step_whose_code_is_missing_is_parked(error: Exception) -> None:
    bench, ticket = await Bench().open(), FakeTicket(content="c0ffee")
    bench.plans.error = error

    assert not await bench.runner.run(ticket, bench.share)

    (obstacle,) = bench.plans.obstacles.of(KEY.tenant)
    assert (ticket.calls, await bench.owner(), bench.launched) == ([f"park {obstacle.name}"], NO_OWNER, [])


async def test_a_step_of_an_instance_that_cannot_be_read_is_given_back_uncounted() -> None:
    bench, ticket, again = await Bench().open(), FakeTicket(content="c0ffee"), FakeTicket(content="c0ffee")
    bench.launch_error = StateUnreadable(KEY.id, "gone", type_name="shop:Item", content="c0ffee")

    assert await bench.runner.run(ticket, bench.share)

    (row,) = await bench.store.effects_of(*KEY)
    assert (row.owner, row.attempt, bench.share.running) == (NO_OWNER, 1, set())
    assert not await bench.runner.run(again, bench.share)
    (obstacle,) = bench.plans.obstacles.of(KEY.tenant)
    assert again.calls == [f"park {obstacle.name}"]


async def test_a_step_that_this_node_cannot_take_is_given_back() -> None:
    bench, ticket = await Bench().open(), FakeTicket(content="c0ffee")
    bench.plans.error = StoreUnavailable("No answer.")

    assert not await bench.runner.run(ticket, bench.share)

    assert (ticket.calls, await bench.owner(), bench.launched) == (["give back"], NO_OWNER, [])


async def test_a_step_beyond_its_limit_per_value_waits() -> None:
    pause = timedelta(seconds=3)
    bench, ticket = await Bench(FakeLimit(pause)).open(), FakeTicket(content="c0ffee")

    assert not await bench.runner.run(ticket, bench.share)

    assert (ticket.calls, await bench.owner()) == ([([("customer", "ada")], pause)], NO_OWNER)
    assert bench.share.counted_values == {}


async def test_a_waiting_step_that_is_delivered_again_at_once_is_not_taken_for_a_second_delivery() -> None:
    """A broker's step waits on the work table, where the same node may claim it before the broker has its answer."""
    limit = FakeLimit(timedelta(seconds=3))
    bench, again = await Bench(limit).open(), FakeTicket(content="c0ffee")

    class Redelivered(FakeTicket):
        async def wait(self, values: Sequence[Any], pause: timedelta) -> None:
            limit.pause = None
            assert await bench.runner.run(again, bench.share)

    assert not await bench.runner.run(Redelivered(content="c0ffee"), bench.share)

    assert (again.calls, await bench.owner()) == (["settle"], bench.membership.owner)
    assert bench.share.counted_values == {(KEY, 1): [("customer", "ada")]}


async def test_a_counted_step_is_uncounted_when_it_ends() -> None:
    limit = FakeLimit(None)
    bench = await Bench(limit).open()
    bench.keeps_running = False

    assert await bench.runner.run(FakeTicket(content="c0ffee"), bench.share)
    await bench.background.wait()

    assert limit.ended == [("customer", "ada")]
