"""Stimuli reach whom they concern: rules H7, H12 and M6, one by one."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from holdfast import Status, Workflow, expr, wait_for, workflow
from holdfast.activities import Event, PublishEvent, Sequence, SetOutput
from holdfast.errors import DefinitionError, InstanceEnded, InstanceNotFound, InvalidInput, KeyReused, StoreUnavailable
from holdfast.model.commit import Commit
from holdfast.model.listing import InstanceFilter
from holdfast.model.requests import DispatchTrigger
from holdfast.model.work import WorkKind
from holdfast.runtime.commits import work_rows
from holdfast.runtime.commits.work_rows import Stimulus
from holdfast.runtime.stimuli import inbox, inbox_expiry, router
from holdfast.runtime.work_queue import quarantine
from tests.support.node import node_of

SOON = timedelta(seconds=20)
MANY_PAGES = quarantine.ATTEMPTS_MAX + 2


@dataclass
class Approval:
    by: str


@workflow
async def mine() -> str:
    answer = await wait_for(Approval)
    return answer.by


@workflow
async def keyed(number: str) -> str:
    answer = await wait_for(Approval, key=number)
    return answer.by


@workflow
async def anyones() -> str:
    answer = await wait_for(Approval, broadcast=True)
    return answer.by


@workflow
async def picky() -> str:
    answer = await wait_for(Approval, where=lambda found: found.by != "spam")
    return answer.by


@workflow
async def choosy() -> str:
    first = await wait_for(Approval, where=lambda found: found.by == "Ada")
    second = await wait_for(Approval, where=lambda found: found.by == "Bob")
    return f"{first.by}, {second.by}"


@workflow
async def clumsy() -> str:
    answer = await wait_for(Approval, where=lambda found: 1 / len(found.by[9:]) > 0)
    return answer.by


def waiting(name: str = "go", times: int = 1) -> Workflow:
    steps = [Event(name, result=f"v{number}") for number in range(times)]
    return Workflow(
        Sequence(*steps, SetOutput("found", expr(f"[{', '.join(f'v{number}' for number in range(times))}]"))),
        id=f"waits-{name}",
        outputs={"found": list},
        variables={f"v{number}": None for number in range(times)},
    )


async def started(runtime: Any, workflow: Any, inputs: Any = None, **more: Any) -> str:
    answer = await runtime.start(workflow, inputs, **more)
    assert answer.result.status is Status.SUSPENDED
    return str(answer.result.instance_id)


async def outputs(runtime: Any, instance_id: str) -> Any:
    return (await runtime.wait_at_rest(instance_id)).outputs


async def statuses(runtime: Any, *ids: str) -> list[str]:
    return [(await runtime.read(name)).status.value for name in ids]


# -- addressed ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("target", [mine, waiting("Approval")], ids=["wait_for", "Event"])
async def test_to_an_instance(cluster: Any, target: Any) -> None:
    node = await cluster.node("a", work=True)
    one, other = await started(node, target), await started(node, target)

    await node.stimuli.send(Approval("Ada"), instance_id=other, wait=SOON)

    await node.wait_at_rest(other)
    assert await statuses(node, one, other) == ["suspended", "finished"]
    await cluster.check(node, other)


@pytest.mark.parametrize("target", [mine, waiting("Approval")], ids=["wait_for", "Event"])
async def test_to_a_correlation_id_the_oldest_takes_it_once(cluster: Any, target: Any) -> None:
    node = await cluster.node("a", work=True)
    stranger = await started(node, target, correlation_id="x")
    oldest = await started(node, target, correlation_id="c")
    younger = await started(node, target, correlation_id="c")

    await node.stimuli.send(Approval("Ada"), correlation_id="c", wait=SOON)

    await node.wait_at_rest(oldest)
    assert await statuses(node, stranger, oldest, younger) == ["suspended", "finished", "suspended"]


async def test_to_a_key_from_anywhere(cluster: Any) -> None:
    node = await cluster.node("a", work=True)
    seven, eight = await started(node, keyed, {"number": "7"}), await started(node, keyed, {"number": "8"})
    unkeyed = await started(node, mine)

    await node.stimuli.send(Approval("Ada"), key="8", wait=SOON)

    assert await outputs(node, eight) == {"result": "Ada"}
    assert await statuses(node, seven, unkeyed) == ["suspended", "suspended"]


def rows_of(node: Any, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What it puts on the work table from now on."""
    rows: list[Any] = []
    enqueue, put_inbox = node.store.enqueue, node.store.put_inbox

    async def noted(added: Any) -> Any:
        rows.extend(added)
        return await enqueue(added)

    async def noted_beside(kept: Any, added: Any = ()) -> Any:
        rows.extend(added)
        return await put_inbox(kept, added)

    monkeypatch.setattr(node.store, "enqueue", noted)
    monkeypatch.setattr(node.store, "put_inbox", noted_beside)
    return rows


async def test_one_that_somebody_waits_for_needs_no_row(cluster: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    node = await cluster.node("a", work=True)
    name = await started(node, keyed, {"number": "7"})
    rows = rows_of(node, monkeypatch)

    receipt = await node.stimuli.send(Approval("Ada"), key="7")

    assert (await node.read(name)).outputs == {"result": "Ada"}  # Committed before it was answered.
    assert await node.wait_settled(receipt.stimulus_id, SOON)
    assert node.stimuli.counts == {"delivered": 1}
    assert rows == []


async def test_one_that_is_to_be_carried_in_a_way_of_its_own_is_a_row(
    cluster: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    node = await cluster.node("a", work=True)
    names = [await started(node, keyed, {"number": number}) for number in "123"]
    rows = rows_of(node, monkeypatch)

    await node.stimuli.send(Approval("Ada"), key="1", priority=5)
    await node.stimuli.send(Approval("Ada"), key="2", queue="default")
    await node.stimuli.send(Approval("Ada"), key="3", delay=timedelta(milliseconds=1))

    assert [await outputs(node, name) for name in names] == [{"result": "Ada"}] * 3
    assert len(rows) == 3


async def test_one_that_cannot_be_delivered_at_once_is_kept(cluster: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    node = await cluster.node("a", work=True)
    name = await started(node, keyed, {"number": "7"})
    parts = node_of(node).components
    failures = [DefinitionError("Not here."), DefinitionError("Not here.")]
    look = parts.inbox.look

    async def delivered(*given: Any, **more: Any) -> Any:
        raise failures.pop() if failures else AssertionError

    async def looked(*given: Any) -> Any:
        if failures:
            raise failures.pop()
        return await look(*given)

    monkeypatch.setattr(parts.router._delivery, "deliver", delivered)
    monkeypatch.setattr(parts.inbox, "look", looked)
    rows = rows_of(node, monkeypatch)
    await node.stimuli.send(Approval("Ada"), key="7", wait=SOON)

    assert await outputs(node, name) == {"result": "Ada"}
    assert [row.kind for row in rows] == [WorkKind.MAIL]  # Another node may have the code that this one lacks.
    assert node.stimuli.counts["kept"] == 1


async def test_whether_it_was_written_is_not_known(cluster: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Then there must be no row either: it might be delivered twice."""
    node = await cluster.node("a", work=True)
    await started(node, keyed, {"number": "7"})
    rows = rows_of(node, monkeypatch)

    async def handed_over(*_: Any, **__: Any) -> Any:
        raise StoreUnavailable("The connection was lost.")

    monkeypatch.setattr(node_of(node).components.router._delivery, "_handed_over", handed_over)
    with pytest.raises(StoreUnavailable):
        await node.stimuli.send(Approval("Ada"), key="7")

    assert rows == []


async def test_what_where_passes_by_is_not_used_up(cluster: Any) -> None:
    node = await cluster.node("a", work=True)
    name = await started(node, picky)
    version = (await node.row(name)).version

    await node.stimuli.send(Approval("spam"), instance_id=name, wait=SOON)
    assert (await node.row(name)).version == version
    assert node.stimuli.counts["kept"] == 1
    assert await node_of(node).components.inbox.sweep() == 0
    await node.stimuli.send(Approval("Ada"), instance_id=name, wait=SOON)

    assert await outputs(node, name) == {"result": "Ada"}


async def test_an_event_that_one_wait_passes_by_is_there_for_the_next(cluster: Any) -> None:
    node = await cluster.node("a", work=True)
    name = await started(node, choosy)

    await node.stimuli.send(Approval("Bob"), instance_id=name, wait=SOON)
    await node.stimuli.send(Approval("Ada"), instance_id=name, wait=SOON)

    assert await outputs(node, name) == {"result": "Ada, Bob"}
    await cluster.check(node, name)


async def test_an_event_that_the_oldest_passes_by_is_for_the_next_oldest(cluster: Any) -> None:
    node = await cluster.node("a", work=True)
    first = await started(node, choosy, correlation_id="c-1")
    second = await started(node, picky, correlation_id="c-1")

    await node.stimuli.send(Approval("Bob"), correlation_id="c-1", wait=SOON)

    assert await outputs(node, second) == {"result": "Bob"}
    assert await statuses(node, first) == ["suspended"]


async def test_a_test_of_an_event_that_fails_is_a_fault_of_the_wait(cluster: Any) -> None:
    node = await cluster.node("a", work=True)
    name = await started(node, clumsy)

    await node.stimuli.send(Approval("Ada"), instance_id=name, wait=SOON)

    ended = await node.wait_at_rest(name)
    assert (ended.status, ended.incidents[0].type) == (Status.FAULTED, "ZeroDivisionError")


async def test_one_who_is_unknown_and_one_who_has_ended(cluster: Any) -> None:
    node = await cluster.node("a", work=True)
    name = await started(node, mine)
    await node.cancel(name)

    with pytest.raises(InstanceNotFound):
        await node.stimuli.send(Approval("Ada"), instance_id="nobody")
    with pytest.raises(InstanceEnded):
        await node.stimuli.send(Approval("Ada"), instance_id=name)


# -- for everyone ------------------------------------------------------------------------------------------------------


async def test_what_a_node_knows_of_an_instance_may_be_old(cluster: Any) -> None:
    """It is matched by what is at hand; whether that is still so, its commit tells."""
    a, b = await cluster.node("a"), await cluster.node("b")
    name = await started(a, waiting("go", times=2))
    first, second, third = [
        work_rows.stimulus(
            cluster.tenant,
            Stimulus(id=f"s{number}", event_name="go", instance_id=name, input=number),
            a.clock.now(),
        )
        for number in range(3)
    ]
    await a.store.enqueue([first, second, third])

    await node_of(b).components.router.route(first)
    assert node_of(a).components.cache._rows[a.key(name)].version == 1
    await node_of(a).components.router.route(
        second
    )  # Of the bookmark that the first one has used up, it goes to the next.
    assert (await outputs(a, name)) == {"found": [0, 1]}

    assert node_of(b).components.cache._rows[b.key(name)].version == 2  # There it seems to wait.
    await node_of(b).components.router.route(third)
    assert b.stimuli.counts["unread"] == 1
    assert await kept(b) == 0
    assert (await b.store.stats(cluster.tenant)).work_ready == 0


async def test_a_broadcast_reaches_all_that_wait_now(cluster: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(router, "PAGE", 3)  # So that it takes several pages.
    node = await cluster.node("a", work=True)
    all_of_them = [await started(node, anyones) for _ in range(4)] + [
        await started(node, waiting("Approval")) for _ in range(4)
    ]
    addressed = [await started(node, mine), await started(node, keyed, {"number": "7"})]

    await node.stimuli.send(Approval("Ada"))

    for name in all_of_them:
        await node.wait_at_rest(name)
    assert await statuses(node, *addressed) == ["suspended", "suspended"]


async def test_each_page_of_a_broadcast_is_work_of_its_own(cluster: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """After a death nodes are careful for a minute and count attempts: pages that were done count for nobody."""
    monkeypatch.setattr(router, "PAGE", 1)
    node = await cluster.node("a")
    names = [await started(node, anyones) for _ in range(MANY_PAGES)]
    await node.stimuli.send(Approval("Ada"))
    node.intake.start_quarantine()
    node_of(node).take_work()

    for name in names:
        await node.wait_at_rest(name)
    assert not await node.store.list_dead_letters(cluster.tenant)


async def test_pages_of_a_broadcast_have_short_names(cluster: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many there are: the column of a database has an end."""
    monkeypatch.setattr(router, "PAGE", 1)
    node = await cluster.node("a")
    for _ in range(3):
        await started(node, anyones)
    node.intake.paused = True  # What it writes stays in the table.
    row = work_rows.stimulus(cluster.tenant, Stimulus(id="s1", event_name="Approval"), node.clock.now())
    for _ in range(2):
        await node.store.enqueue([row])
        await node_of(node).components.router.route(row)
        async with node.store.claim([row.queue], 10) as claim:
            (row,) = [found for found in claim.rows if found.kind == row.kind]

    assert row.id.count("+") == 1


async def test_a_broadcast_page_that_is_done_again_reaches_nobody_twice(cluster: Any) -> None:
    """Whoever loops back to the same wait must not hear of the same event again (rule M6)."""
    node = await cluster.node("a", work=True)
    name = await started(node, waiting("go", times=2))
    found = Stimulus(id="s1", event_name="go", input=1)
    row = work_rows.stimulus(cluster.tenant, found, node.clock.now())

    await node.store.enqueue([row])
    await node.wait_settled("s1", SOON)
    await node.wait_burst(name, SOON, above=1)
    await node_of(node).components.router.route(
        row
    )  # A second node that had taken the row up too: it loses when it commits.

    assert (await node.read(name)).status is Status.SUSPENDED
    assert (await node.store.stats(cluster.tenant)).work_ready == 0


async def test_publish_event_goes_the_same_way(cluster: Any) -> None:
    node = await cluster.node("a", work=True)
    everyone, correlated = (
        await started(node, waiting("news")),
        await started(node, waiting("news"), correlation_id="c"),
    )

    await node.start(Workflow(PublishEvent("news", payload=1, correlation_id="c"), id="teller"))
    assert await outputs(node, correlated) == {"found": [1]}
    assert (await node.read(everyone)).status is Status.SUSPENDED
    await node.start(Workflow(PublishEvent("news", payload=2), id="crier"))

    assert await outputs(node, everyone) == {"found": [2]}


# -- nobody waits yet --------------------------------------------------------------------------------------------------


async def kept(runtime: Any) -> int:
    return int((await runtime.store.stats(runtime.tenant)).inbox)


async def test_early_ones_are_kept_for_key_and_correlation_id(cluster: Any) -> None:
    node = await cluster.node("a", work=True)
    await node.stimuli.send(Approval("early"), key="7", wait=SOON)
    await node.stimuli.send(Approval("early too"), correlation_id="c", wait=SOON)
    assert node.stimuli.counts == {"kept": 2}

    first = (await node.start(keyed, {"number": "7"})).result.instance_id
    second = (await node.start(mine, correlation_id="c")).result.instance_id

    assert await outputs(node, first) == {"result": "early"}
    assert await outputs(node, second) == {"result": "early too"}
    assert await kept(node) == 0


async def test_to_an_instance_that_does_not_wait_yet(cluster: Any) -> None:
    node = await cluster.node("a", work=True)
    name = await started(
        node,
        Workflow(
            Sequence(Event("first"), Event("second", result="v"), SetOutput("v", expr("v"))),
            outputs={"v": int},
            variables={"v": None},
        ),
    )
    await node.stimuli.event("second", 2, instance_id=name, wait=SOON)
    assert (await kept(node)) > 0

    await node.stimuli.event("first", 1, instance_id=name)

    assert await outputs(node, name) == {"v": 2}
    assert await kept(node) == 0


async def test_what_an_instance_never_read_stands_in_its_journal(cluster: Any) -> None:
    node = await cluster.node("a", work=True)
    name = await started(node, waiting("go"))
    await node.stimuli.event("never", 1, instance_id=name, wait=SOON)
    await node.stimuli.event("go", 1, instance_id=name)
    await node.wait_at_rest(name)

    async def unread() -> list[Any]:
        return [entry.data for entry in await node.journal(name) if entry.event == "unread"]

    while True:
        if await unread():
            break
        await asyncio.sleep(0.01)
    assert await unread() == [{"name": "never"}]
    assert await kept(node) == 0
    await node.settled(name)
    await cluster.check(node, name)
    assert (await node.store.stats(cluster.tenant)).work_later == 0


async def test_a_broadcast_that_a_published_definition_waits_for_is_kept_and_taken_once(cluster: Any) -> None:
    node = await cluster.node("a", work=True)
    await node.definitions.deploy(waiting("go"))

    await node.stimuli.event("go", 1, wait=SOON)
    await node.stimuli.event("never asked for", 1, wait=SOON)
    assert node.stimuli.counts == {"kept": 1, "forgotten": 1}
    first = (await node.start(waiting("go"))).result.instance_id
    assert await outputs(node, first) == {"found": [1]}

    second = await started(node, waiting("go"))
    assert (await node.read(second)).status is Status.SUSPENDED
    assert await kept(node) == 0


async def test_what_expires_is_counted_and_nobody_gets_it(cluster: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inbox, "ADDRESSED_RETENTION", timedelta(milliseconds=-1))
    node = await cluster.node("a", work=True)
    await node.stimuli.send(Approval("late"), correlation_id="c", wait=SOON)

    await started(node, mine, correlation_id="c")
    await node_of(node).components.inbox.sweep()

    assert node.stimuli.counts == {"kept": 1, "expired": 1}
    assert await kept(node) == 0
    (listed,) = await node.stimuli.expired()
    assert (listed.event_name, listed.correlation_id) == ("Approval", "c")
    later = await node.store.get_record(cluster.tenant, inbox_expiry.EXPIRED, listed.id)
    await node.store.put_record(replace(later, version=later.version + 1, due=later.created))
    assert await node.expiry.remove_old(node.tenant) == 1
    assert not await node.stimuli.expired()


async def test_an_expired_stimulus_that_is_replayed_finds_its_instance(
    cluster: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    node = await cluster.node("a", work=True)
    with monkeypatch.context() as short:
        short.setattr(inbox, "ADDRESSED_RETENTION", timedelta(milliseconds=-1))
        await node.stimuli.send(Approval("late"), correlation_id="c", wait=SOON)
        await node_of(node).components.inbox.sweep()
    (listed,) = await node.stimuli.expired()
    name = await started(node, mine, correlation_id="c")

    assert list(await node.stimuli.replay_expired([listed.id, "unknown"])) == [listed.id]

    assert (await node.wait_at_rest(name)).status is Status.FINISHED
    assert not await node.stimuli.expired()
    assert not await node.stimuli.replay_expired([listed.id])


async def test_whoever_died_between_write_and_look_leaves_it_to_the_sweep(
    cluster: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inbox, "SWEEP_AFTER", timedelta(0))
    node = await cluster.node("a")
    executor = node_of(node).components.executor
    executor.hooks = replace(
        executor.hooks, bookmarks_added=lambda _: None
    )  # The node dies before it searches the inbox.
    name = await started(node, mine, correlation_id="c")
    found = Stimulus(id="s1", event_name="Approval", correlation_id="c", input={"by": "Ada"})
    rows = node_of(node).components.inbox.rows_for(cluster.tenant, found)  # The sender dies too.
    await node.store.commit([Commit(tenant=cluster.tenant, burst_id="b", inbox_added=rows)])

    assert await node_of(node).components.inbox.sweep() == 1

    assert await outputs(node, name) == {"result": "Ada"}
    assert await kept(node) == 0
    assert node.stimuli.counts == {"swept": 1}


async def test_sender_and_parker_meet_whoever_comes_first(cluster: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Write, commit, then look: 60 pairs at once on two nodes, and no sweep."""
    a, b = await cluster.node("a", work=True), await cluster.node("b", work=True)
    for node in (a, b):
        monkeypatch.setattr(node_of(node).components.inbox, "sweep", _nothing)

    async def pair(number: int) -> str:
        sender, starter = (a, b) if number % 2 else (b, a)
        sent = sender.stimuli.send(Approval(f"{number}"), key=f"{number}")
        begun = starter.start(keyed, {"number": f"{number}"}, instance_id=f"i{number}")
        await asyncio.gather(*((sent, begun) if number % 3 else (begun, sent)))
        return str((await starter.wait_at_rest(f"i{number}")).outputs["result"])

    found = await asyncio.gather(*(pair(number) for number in range(60)))

    assert found == [f"{number}" for number in range(60)]
    assert await kept(a) == 0


async def _nothing() -> int:
    return 0


# -- triggers ----------------------------------------------------------------------------------------------------------


async def test_a_stimulus_that_started_an_instance_is_consumed(cluster: Any) -> None:
    """It starts by trigger and resumes by bookmark; the instance that it started does not take it a second time."""
    node = await cluster.node("a", work=True)
    await node.definitions.deploy(
        Workflow(
            Sequence(Event("go", can_start=True), Event("go", result="v"), SetOutput("v", expr("v"))),
            id="twice",
            outputs={"v": int},
            variables={"v": None},
        )
    )
    sleeper = await started(node, waiting("go"))

    await node.stimuli.event("go", 1, wait=SOON)

    assert await outputs(node, sleeper) == {"found": [1]}
    count = await node.store.count(cluster.tenant, InstanceFilter(definition_ids=("twice",)))
    assert count == 1
    assert node.stimuli.counts == {"started": 1, "delivered": 1}
    assert (await node.store.count(cluster.tenant, InstanceFilter(statuses=("suspended",)))) == 1


async def test_a_workflow_that_cannot_start_by_it_keeps_nobody_else_from_it(cluster: Any) -> None:
    node = await cluster.node("a", work=True)
    for name, inputs in (("asks-too-much", {"amount": int}), ("starts", {})):
        await node.definitions.deploy(Workflow(Sequence(Event("go", can_start=True)), id=name, inputs=inputs))
    sleeper = await started(node, waiting("go"))

    await node.stimuli.event("go", 1, wait=SOON)

    assert await outputs(node, sleeper) == {"found": [1]}
    assert node.stimuli.counts == {"refused": 1, "started": 1, "delivered": 1}
    with pytest.raises(InvalidInput):
        await node.dispatcher.dispatch(DispatchTrigger(activity_type="Event", payload={"event_name": "go"}))


async def test_the_same_key_twice_does_it_once(cluster: Any) -> None:
    node = await cluster.node("a", work=True)
    await node.definitions.deploy(Workflow(Sequence(Event("go", can_start=True)), id="starts"))
    name = await started(node, waiting("go", times=2))

    first = await node.stimuli.event("go", 1, idempotency_key="k", wait=SOON)
    again = await node.stimuli.event("go", 1, idempotency_key="k", wait=SOON)

    assert (again.stimulus_id, again.existing) == (first.stimulus_id, True)
    with pytest.raises(KeyReused):
        await node.stimuli.event("go", 2, idempotency_key="k")
    await node.wait_burst(name, SOON, above=1)
    assert (await node.read(name)).status is Status.SUSPENDED
    assert await node.store.count(cluster.tenant, InstanceFilter(definition_ids=("starts",))) == 1


async def test_a_keyed_stimulus_that_is_done_twice_resumes_once(cluster: Any) -> None:
    """Even if its row comes back: the instance that took it holds the key (rule M4)."""
    node = await cluster.node("a", work=True)
    name = await started(node, waiting("go", times=2), correlation_id="c")
    found = Stimulus(id="s1", event_name="go", correlation_id="c", input=1, guarded=True)
    row = work_rows.stimulus(cluster.tenant, found, node.clock.now())

    await node.store.enqueue([row])
    await node.wait_settled("s1", SOON)
    await node.store.enqueue([replace(row, attempts=1)])
    await node_of(node).components.router.route(row)

    assert (await node.read(name)).status is Status.SUSPENDED
    assert (await node.row(name)).version == 2


async def test_explaining_sends_nothing(cluster: Any) -> None:
    node = await cluster.node("a")
    await node.definitions.deploy(Workflow(Sequence(Event("go", can_start=True)), id="starts"))
    name = await started(node, waiting("go"))

    told = await node.stimuli.explain("Event", name="go")
    nobody = await node.stimuli.explain("Event", name="nothing")

    assert (told.broadcast, told.starts, told.resumes, told.kept) == (True, ("starts",), (f"{name}#b1",), "10 min")
    assert (nobody.starts, nobody.resumes, nobody.kept) == ((), (), None)
    assert (await node.stimuli.explain(Approval, key="7")).kept == "24 h"
    assert (await node.store.stats(cluster.tenant)).work_ready == 0
