"""Worker processes: drained, killed, restarted; work that kills its process; neighbours unharmed (rules H13, H15)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from holdfast import Holdfast, Status
from holdfast.management.instances.operators import Operators
from holdfast.management.runtime import ManagedRuntime
from holdfast.model.instance import JournalEvent
from holdfast.persistence import store_from_url
from holdfast.runtime.cluster.plugin_tasks import RecurringTask
from holdfast.runtime.commits.placement import Placement
from holdfast.testing.worker_process import WorkerProcess
from tests.integration.fixtures import killers
from tests.support.node import node_of
from tests.support.worker_group import keep_alive

FIXTURES = Path(__file__).parents[2] / "fixtures"
ALIVE = {"HOLDFAST_NODE_ALIVE": "1500ms", "HOLDFAST_NODE_SWEEP": "300ms", "HOLDFAST_CANCEL_GRACE": "200ms"}


class Field:
    """Workers on one store, and a runtime in this process that starts instances and looks at them."""

    def __init__(self, engine: Holdfast, runtime: ManagedRuntime, url: str, calls: Path) -> None:
        self.engine = engine
        self.runtime = runtime
        self.url = url
        self.calls = calls
        self.workers: list[WorkerProcess] = []

    def worker(self, name: str, *arguments: str, **environment: str) -> WorkerProcess:
        made = WorkerProcess(
            name,
            store=self.url,
            modules=["killers"],
            folder=FIXTURES,
            arguments=("--tenants", self.runtime.tenant, *arguments),
            environment={**ALIVE, killers.CALLS: str(self.calls), **environment},
        )
        self.workers.append(made)
        return made

    async def start(self, workflow: Any, **inputs: Any) -> str:
        answer = await self.runtime.start(workflow, inputs)
        assert answer.result is not None
        return answer.result.instance_id

    async def until(self, what: Callable[[], Awaitable[bool]]) -> None:
        async with asyncio.timeout(60):
            while True:
                if await what():
                    return
                await asyncio.sleep(0.05)

    async def at_rest(self, *identities: str) -> list[Any]:
        async with asyncio.timeout(60):
            return [await self.runtime.wait_at_rest(name) for name in identities]


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.service("postgres"))])
def url(request: pytest.FixtureRequest, tmp_path: Path, servers: dict[str, str]) -> str:
    return f"sqlite:///{tmp_path / 'holdfast.db'}" if request.param == "sqlite" else servers[request.param]


@pytest.fixture
async def field(url: str, tmp_path: Path) -> AsyncIterator[Field]:
    store = store_from_url(url)
    await store.open()
    activities = [
        killers.Die,
        killers.Eat,
        killers.die_outside,
        killers.eat_outside,
        killers.work,
        killers.kind_of_loop,
    ]
    engine = Holdfast(entry_points=False, activities=activities)
    calls = tmp_path / "calls"
    calls.mkdir()
    tenant = f"w{abs(hash(tmp_path)) % 10**8}"
    async with engine.runtime_on(store, tenant=tenant, node=f"{tenant}-test") as runtime:
        runtime.intake.paused = True  # It starts instances; the rest is for the workers.
        found = Field(engine, runtime, url, calls)
        yield found
        for worker in found.workers:
            await worker.close()
    await store.close()
    engine.close()


async def test_a_drained_worker_finishes_what_it_has_in_hand(field: Field) -> None:
    worker = field.worker("drained", "--queues", "default,slow")
    await worker.start()
    identity = await field.start(killers.neighbour, nap=timedelta(milliseconds=10))
    await field.at_rest(identity)
    worker.terminate()

    assert await worker.ended() == 0
    nodes = {item.id: item for item in await field.runtime.nodes.list()}
    found = nodes["drained"]
    assert (found.state, found.alive) == ("left", False)
    assert set(found.details.queues) == {"default", "slow"}


async def test_a_worker_runs_on_the_loop_that_a_server_has(field: Field) -> None:
    worker = field.worker("looped")
    await worker.start()

    (result,) = await field.at_rest(await field.start(killers.looped))

    assert result.variables["kind"] == "uvloop"


async def test_what_a_drained_worker_cannot_finish_goes_back_and_is_not_counted(field: Field) -> None:
    first = field.worker("first", HOLDFAST_DRAIN_LIMIT="200ms", HOLDFAST_EFFECTS_QUEUE="default")
    await first.start()
    flow = killers.long_work
    identity = await _queued(field, flow, 600.0)
    await field.until(lambda: _exists(field.calls, 1))
    first.terminate()
    assert await first.ended() == 1

    (effect,) = await field.runtime.store.effects_of(field.runtime.tenant, identity)
    assert (effect.attempt, effect.owner.node) == (1, "")
    result = await field.runtime.read(identity)
    assert result.status is Status.RUNNING


async def _queued(field: Field, flow: Any, seconds: float) -> str:
    """Started so that its effect is carried to a worker."""
    tenant, store = field.runtime.tenant, field.runtime.store
    placement = Placement(default="default")
    async with field.engine.runtime_on(store, tenant=tenant, node=f"{tenant}-queueing", placement=placement) as runtime:
        answer = await runtime.start(flow, {"seconds": seconds})
    assert answer.result is not None
    return answer.result.instance_id


async def _exists(calls: Path, count: int) -> bool:
    return len(list(calls.iterdir())) >= count


async def test_effects_of_a_killed_worker_go_on_with_a_receipt(field: Field) -> None:
    first = field.worker("first")
    await first.start()
    identity = await _queued(field, killers.long_work, 2.0)
    await field.until(lambda: _exists(field.calls, 1))
    first.kill()
    await first.ended()
    second = field.worker("second")
    await second.start()

    (result,) = await field.at_rest(identity)

    assert result.status is Status.FINISHED
    receipts = [item.data for item in await field.runtime.journal(identity) if item.event is JournalEvent.TAKEN_OVER]
    assert [item["attempt"] for item in receipts] == [2]
    assert receipts[0]["node"] == "first"


async def test_a_frozen_worker_that_wakes_up_late_changes_nothing(field: Field) -> None:
    first = field.worker("first")
    await first.start()
    identity = await _queued(field, killers.long_work, 1.0)
    await field.until(lambda: _exists(field.calls, 1))
    first.freeze()
    second = field.worker("second")
    await second.start()
    (result,) = await field.at_rest(identity)
    version = (await field.runtime.row(identity)).version
    first.thaw()
    again = await field.start(killers.neighbour, nap=timedelta(milliseconds=10))
    await field.at_rest(again)

    assert result.status is Status.FINISHED
    assert (await field.runtime.row(identity)).version == version


# A store sees only that a process is gone, not of what: so hunger is tried on one store for each place of the work.
DEATHS = [
    *(("sqlite", kind) for kind in ("deadly", "outside", "queued_outside", "hungry")),
    *(("postgresql", kind) for kind in ("deadly", "outside", "queued_outside", "hungry_outside")),
    ("mysql", "queued_outside"),
]
SERVICES = {"postgresql": "postgres", "mysql": "mysql"}
EFFECT_DEATHS = 5
"""Processes that an effect ends: its first attempt, three lost attempts, and the last one in isolation."""
ROW_DEATHS = 7
"""Processes that a work row ends: before the quarantine begins, the row may end each worker without being counted."""


def _on(*item: str) -> Any:
    """Parameters of which the first is a store."""
    return pytest.param(*item, marks=[pytest.mark.service(SERVICES[item[0]])] if item[0] in SERVICES else [])


@pytest.mark.timeout(180)
@pytest.mark.parametrize(
    ("url", "kind"),
    [_on(*item) for item in DEATHS],
    indirect=["url"],
)
async def test_work_that_ends_its_process_is_a_dead_letter_with_an_incident_and_neighbours_live(
    field: Field, kind: str
) -> None:
    workers = [field.worker(name, **{killers.RESIDENT: "400000000"}) for name in ("one", "two", "three")]
    await asyncio.gather(*(worker.start() for worker in workers))
    reviving = asyncio.create_task(keep_alive(workers))
    try:
        killer = await field.start(getattr(killers, kind))
        neighbour = killers.queued_neighbour if kind.startswith("queued") else killers.neighbour
        others = [await field.start(neighbour, nap=timedelta(milliseconds=20 * number)) for number in range(20)]
        results = await field.at_rest(*others)
        await field.until(lambda: _has_incident(field, killer))
    finally:
        reviving.cancel()
        await asyncio.wait([reviving])

    assert {item.status for item in results} == {Status.FINISHED}
    (incident,) = (await field.runtime.read(killer)).incidents
    assert incident.type == ("EffectLost" if kind.endswith("outside") else "process-died")
    (letter,) = await Operators(field.runtime).dead_letters()
    assert (letter.reason, letter.work.instance_id) == ("process-died", killer)
    assert sum(worker.lives for worker in workers) <= 3 + (EFFECT_DEATHS if kind.endswith("outside") else ROW_DEATHS)


@pytest.mark.timeout(180)
@pytest.mark.parametrize(
    ("url", "kind"),
    [_on("sqlite", "outside"), *(_on(store, "queued_outside") for store in ("sqlite", "postgresql", "mysql"))],
    indirect=["url"],
)
async def test_of_two_effects_that_end_processes_and_fifty_others_only_the_two_are_buried(
    field: Field, kind: str
) -> None:
    workers = [field.worker(name) for name in ("one", "two", "three")]
    await asyncio.gather(*(worker.start() for worker in workers))
    reviving = asyncio.create_task(keep_alive(workers))
    neighbour = killers.queued_neighbour if kind.startswith("queued") else killers.neighbour
    try:
        both = [await field.start(getattr(killers, kind)) for _ in range(2)]
        others = [await field.start(neighbour, nap=timedelta(milliseconds=20 * number)) for number in range(50)]
        async with asyncio.timeout(150):
            results = [await field.runtime.wait_at_rest(name) for name in others]
            for killer in both:
                await field.until(partial(_has_incident, field, killer))
    finally:
        reviving.cancel()
        await asyncio.wait([reviving])

    assert {item.status for item in results} == {Status.FINISHED}
    assert sorted(item.work.instance_id or "" for item in await Operators(field.runtime).dead_letters()) == sorted(both)
    assert sum(worker.lives for worker in workers) <= 3 + 2 * EFFECT_DEATHS


MAIL_DEATHS = [("sqlite", "deadly_mail"), ("sqlite", "hungry_mail"), ("postgresql", "deadly_mail")]


@pytest.mark.timeout(180)
@pytest.mark.parametrize(
    ("url", "kind"),
    [_on(*item) for item in MAIL_DEATHS],
    indirect=["url"],
)
async def test_a_kept_event_that_ends_its_process_is_a_dead_letter_and_other_events_arrive_in_order(
    field: Field, kind: str
) -> None:
    workers = [field.worker(name, **{killers.RESIDENT: "400000000"}) for name in ("one", "two")]
    killer = await field.start(getattr(killers, kind))
    readers = [await field.start(killers.mail_reader) for _ in range(5)]
    send = field.runtime.stimuli.event
    await send("go", 0, instance_id=killer)
    for number in (1, 2):
        for reader in readers:
            await send("go", number, instance_id=reader)
    await asyncio.gather(*(worker.start() for worker in workers))
    reviving = asyncio.create_task(keep_alive(workers))
    try:
        results = await field.at_rest(*readers)
        await field.until(lambda: _has_incident(field, killer))
    finally:
        reviving.cancel()
        await asyncio.wait([reviving])

    assert [item.outputs for item in results] == [{"first": 1, "second": 2}] * len(readers)
    (incident,) = (await field.runtime.read(killer)).incidents
    assert incident.type == "process-died"
    (letter,) = await Operators(field.runtime).dead_letters()
    assert (letter.reason, letter.work.kind, letter.work.instance_id) == ("process-died", "stimulus", killer)
    assert not await field.runtime.store.inbox_of(field.runtime.tenant, killer)
    assert sum(worker.lives for worker in workers) <= 2 + 7


async def _has_incident(field: Field, identity: str) -> bool:
    return bool((await field.runtime.read(identity)).incidents)


@pytest.mark.timeout(120)
async def test_work_that_eats_memory_ends_as_an_incident_and_neighbours_live(field: Field) -> None:
    workers = [field.worker(name, **{killers.MEMORY: str(2_000_000_000)}) for name in ("one", "two")]
    await asyncio.gather(*(worker.start() for worker in workers))
    reviving = asyncio.create_task(keep_alive(workers))
    try:
        eater = await field.start(killers.hungry)
        others = [await field.start(killers.neighbour, nap=timedelta(milliseconds=20 * n)) for n in range(10)]
        results = await field.at_rest(*others)
        await field.until(lambda: _has_incident(field, eater))
    finally:
        reviving.cancel()
        await asyncio.wait([reviving])

    assert {item.status for item in results} == {Status.FINISHED}


async def test_intake_is_paused_and_resumed(field: Field) -> None:
    runtime = field.runtime
    node_of(runtime).take_work()
    identity = await field.start(killers.neighbour, nap=timedelta(milliseconds=1))
    this = await runtime.nodes.this()
    assert (this.paused, this.alive, this.this) == (True, True, True)
    assert await node_of(runtime).components.poller.take_due() == 0

    runtime.nodes.resume_intake()
    (result,) = await field.at_rest(identity)

    assert result.status is Status.FINISHED
    runtime.nodes.pause_intake()


async def test_a_single_node_task_is_done_by_one_node_each_time(field: Field) -> None:
    done: list[str] = []

    async def other() -> None:
        """Nobody's name: each node has its own."""

    store, tenant = field.runtime.store, field.runtime.tenant
    item = RecurringTask("tidy", timedelta(milliseconds=50), other)
    engine = Holdfast(entry_points=False)
    nodes = [engine.runtime_on(store, tenant=tenant, node=f"{tenant}-{name}") for name in "abc"]
    for runtime in nodes:
        await node_of(runtime).start()
    assert not (await node_of(nodes[0]).singletons.claim(item))[1]  # Seen for the first time: due in one interval.
    for _ in range(3):
        async with asyncio.timeout(20):
            while not done:
                claims = await asyncio.gather(*(node_of(runtime).singletons.claim(item) for runtime in nodes))
                claimed = sum(is_mine for _, is_mine in claims)
                assert claimed <= 1
                done += ["once"] * claimed
        done.clear()
    for runtime in nodes:
        await node_of(runtime).stop()
    engine.close()
