"""Many at once: stimuli for one instance, starters for one place, batches with a bad neighbour, a store that does not answer."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence as Seq
from typing import Any

import pytest

from holdfast import Status, Workflow, activity, expr
from holdfast.activities import Event, Parallel, Sequence, SetVariable
from holdfast.api import ActivationStrategy
from holdfast.errors import InstanceAtRest, StoreUnavailable
from holdfast.model.commit import Commit, CommitOutcome
from holdfast.model.listing import InstanceQuery
from holdfast.runtime.commits import batch_executor
from tests.support.node import node_of

MANY = 100


async def test_a_hundred_stimuli_for_one_instance_all_arrive(cluster: Any) -> None:
    nodes = [await cluster.node(name) for name in "abc"]
    workflow = Workflow(
        Sequence(
            Parallel(
                *(Sequence(Event(f"e{number}"), SetVariable("count", expr("count + 1"))) for number in range(MANY))
            ),
            Event("end"),
        ),
        variables={"count": 0},
    )
    started = await nodes[0].settle((await nodes[0].start(workflow)).result.instance_id)
    marks = [mark.id for mark in started.bookmarks]
    assert len(marks) == MANY
    versions = started.commits

    await asyncio.gather(*(nodes[number % 3].resume(started.instance_id, mark) for number, mark in enumerate(marks)))

    ended = await nodes[1].read(started.instance_id)
    assert ended.variables["count"] == MANY
    assert [mark.activity_id for mark in ended.bookmarks] == [f"Event{MANY + 1}"]
    assert versions < (await nodes[0].row(started.instance_id)).version <= versions + MANY
    await cluster.check(nodes[2], started.instance_id)


@pytest.mark.parametrize(
    ("strategy", "correlation"),
    [
        (ActivationStrategy.SINGLETON, None),
        (ActivationStrategy.CORRELATION, "order"),
        (ActivationStrategy.CORRELATED_SINGLETON, "order"),
    ],
)
async def test_of_64_starters_one_gets_the_place(
    cluster: Any, strategy: ActivationStrategy, correlation: str | None
) -> None:
    nodes = [await cluster.node(name) for name in "ab"]
    workflow = Workflow(Event("go"), id="alone", activation=strategy)

    answers = await asyncio.gather(
        *(nodes[number % 2].start(workflow, correlation_id=correlation) for number in range(64))
    )

    started = [answer.result.instance_id for answer in answers if answer.result is not None]
    assert len(started) == 1
    assert {answer.existing for answer in answers if answer.result is None} == set(started)
    page = await nodes[0].store.search(InstanceQuery(tenant=cluster.tenant, position=(started[0], 1)))
    assert [item.id for item in page.items] == started
    await nodes[1].resume(started[0])
    assert (await nodes[0].start(workflow, correlation_id=correlation)).result is not None


async def test_a_faulted_instance_takes_its_place_again_or_is_refused(cluster: Any) -> None:
    a, b = await cluster.node("a"), await cluster.node("b")
    workflow = Workflow(
        Sequence(Event("go"), SetVariable("x", expr("1 / x"))),
        variables={"x": 0},
        id="alone",
        activation=ActivationStrategy.SINGLETON,
    )
    first = (await a.start(workflow)).result.instance_id
    assert (await a.resume(first)).status is Status.FAULTED
    second = (await b.start(workflow)).result.instance_id
    with pytest.raises(InstanceAtRest, match=second):
        await a.retry(first)
    await b.cancel(second)
    assert (await a.retry(first)).status is Status.FAULTED  # It ran again, and it is still a division by zero.


async def test_key_and_place_stand_or_fall_together(cluster: Any) -> None:
    a = await cluster.node("a")
    workflow = Workflow(Event("go"), id="alone", activation=ActivationStrategy.SINGLETON)
    first = (await a.start(workflow)).result.instance_id
    refused = await a.start(workflow, idempotency="k")
    assert refused.existing == first
    await a.cancel(first)
    # The key of the refused start was not kept: the same request starts now.
    assert (await a.start(workflow, idempotency="k")).result is not None


class Broken:
    """A store whose commits are lost on the way, before or after they were written."""

    def __init__(self, store: Any, *, written: bool, times: int) -> None:
        self._store = store
        self._written = written
        self._times = times
        self.sent: list[str] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def commit(self, batch: Seq[Commit]) -> Seq[CommitOutcome]:
        self.sent += [commit.burst_id for commit in batch]
        if self._times:
            self._times -= 1
            if self._written:
                await self._store.commit(batch)
            raise StoreUnavailable("cut")
        answer: Seq[CommitOutcome] = await self._store.commit(batch)
        return answer


calls: list[int] = []


@activity
async def count() -> int:
    calls.append(1)
    return len(calls)


@pytest.mark.parametrize("written", [True, False])
async def test_an_unknown_outcome_is_found_out(cluster: Any, written: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch_executor, "RESEND_SECONDS", 0.0)
    calls.clear()
    a, b = await cluster.node("a"), await cluster.node("b", activities=[count])
    workflow = Workflow(Sequence(Event("go"), count.bind(result="n"), Event("end")), variables={"n": 0})
    identity = (await a.start(workflow)).result.instance_id
    executor: Any = node_of(a).components.executor
    broken = executor._store = Broken(a.store, written=written, times=2)

    with pytest.raises(StoreUnavailable):
        await a.resume(identity)

    settled = await a.settle(identity)  # The lane has found out, and gone on: the effect ran once.
    assert settled.variables["n"] == 1
    assert calls == [1]
    assert broken.sent[0] == broken.sent[1] == broken.sent[2]
    await cluster.check(b, identity)


async def test_a_result_waits_for_the_store(cluster: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch_executor, "RESEND_SECONDS", 0.0)
    calls.clear()
    a = await cluster.node("a")
    workflow = Workflow(Sequence(count.bind(result="n"), Event("end")), variables={"n": 0})
    answer = await a.start(workflow)
    executor: Any = node_of(a).components.executor
    executor._store = Broken(a.store, written=False, times=3)
    settled = await a.settle(answer.result.instance_id)
    assert settled.variables["n"] == 1
    assert calls == [1]


async def test_one_that_cannot_be_read_leaves_its_neighbours_alone(cluster: Any) -> None:
    a, b = await cluster.node("a"), await cluster.node("b")
    special = Workflow(Sequence(Event("go"), count.bind()), id="special")
    plain = Workflow(Event("go"), id="plain")
    unreadable = (await a.start(special)).result.instance_id
    ids = [(await a.start(plain)).result.instance_id for _ in range(20)]

    answers = await asyncio.gather(*(b.resume(one, "b1") for one in (unreadable, *ids)), return_exceptions=True)

    assert isinstance(answers[0], Exception)
    assert [getattr(answer, "status", answer) for answer in answers[1:]] == [Status.FINISHED] * 20
    assert (await a.read(unreadable)).status is Status.SUSPENDED
