"""An effect that succeeds although its instance is being canceled is undone, if it has a compensation (rule M1).

The matrix: how the charge ends × who cancels it × where the charge runs, on every store.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import pytest

from holdfast import Retry, Status, Workflow, activity, expr
from holdfast.activities import Compensable, Compensate, Sequence, Try
from holdfast.model.instance import BookmarkKind, JournalEvent
from holdfast.runtime.commits.jobs.resume import ResumeJob
from tests.support.node import node_of

HOUR = timedelta(hours=1)


class Bank:
    def __init__(self) -> None:
        self.renew()

    def renew(self) -> None:
        self.log: list[str] = []
        self.at_the_bank = asyncio.Event()
        self.told = asyncio.Event()
        """The charge was told to end."""
        self.answers = asyncio.Event()
        self.fails = False


bank = Bank()


@activity
async def charge(amount: int) -> str:
    bank.log.append(f"charge {amount}")
    bank.at_the_bank.set()
    try:
        await bank.answers.wait()
    except asyncio.CancelledError:  # The request is out: wait for the answer of the bank.
        bank.told.set()
        await bank.answers.wait()
    bank.log.append("answer")
    if bank.fails:
        raise ValueError("declined")
    return f"receipt {amount}"


@activity
async def refund(receipt: str) -> None:
    bank.log.append(f"refund {receipt}")


@activity
async def unreserve() -> None:
    bank.log.append("unreserve")


@activity
async def reserve() -> None:
    """It is completed before the charge."""


ACTIVITIES = [charge, refund, unreserve, reserve]


def paying(body: Any = None, **options: Any) -> Workflow:
    body = body or charge.bind(amount=5, result="receipt", id="charge", **options)
    return Workflow(
        Sequence(
            Compensable(body=reserve.bind(), compensation=unreserve.bind()),
            Compensable(body=body, compensation=refund.bind(receipt=expr("receipt"))),
            id="work",
        ),
        id="paying",
        variables={"receipt": "none"},
        timeout=HOUR,
    )


class Nodes(dict[str, Any]):
    pass


@pytest.fixture(autouse=True)
def _bank() -> None:
    bank.renew()


@pytest.fixture
async def nodes(cluster: Any) -> AsyncIterator[Nodes]:
    yield Nodes(
        {
            "same": await cluster.node("same", work=True, activities=ACTIVITIES),
            "other": await cluster.node("other", work=True, activities=ACTIVITIES),
            "idle": await cluster.node("idle", activities=ACTIVITIES),
        }
    )
    bank.answers.set()


async def begun(node: Any, workflow: Workflow) -> str:
    identity = str((await node.start(workflow)).result.instance_id)
    async with asyncio.timeout(30):
        await bank.at_the_bank.wait()
    return identity


async def fire_timeout(node: Any, identity: str) -> None:
    marks = (await node.read(identity))._live.bookmarks.values()
    (timer,) = [item.id for item in marks if item.kind is BookmarkKind.TIMEOUT and item.execution_id == 1]
    await node.ask(ResumeJob(node.key(identity), timer))


async def at_rest(node: Any, identity: str) -> Any:
    async with asyncio.timeout(30):
        return await node.wait_at_rest(identity)


async def ends(cluster: Any, nodes: Nodes, identity: str, how: str) -> None:
    if how == "lost":
        await cluster.died(nodes["same"])
        await node_of(nodes["other"]).components.reaper.sweep()
    else:
        bank.fails = how == "fails"
        bank.answers.set()


UNDONE = {"ok": ["answer", "refund receipt 5", "unreserve"], "fails": ["answer", "unreserve"], "lost": ["unreserve"]}


@pytest.mark.parametrize("by", ["same", "other", "idle"])
@pytest.mark.parametrize("how", list(UNDONE))
async def test_a_cancel_undoes_a_charge_that_succeeds_after_it(cluster: Any, nodes: Nodes, how: str, by: str) -> None:
    identity = await begun(nodes["same"], paying())
    await nodes[by].operators.cancel(identity, who="ann")
    assert (await nodes["idle"].read(identity)).status is Status.CANCELING
    assert bank.log == ["charge 5"]

    await ends(cluster, nodes, identity, how)
    ended = await at_rest(nodes["other"], identity)

    assert (ended.status, ended.incidents) == (Status.CANCELED, [])
    assert bank.log[1:] == UNDONE[how]
    (end,) = [item.data for item in await nodes["idle"].journal(identity) if item.event is JournalEvent.EFFECT_ENDED]
    assert (end["ended"] == "finished") is (how == "ok")
    await cluster.check(nodes["idle"], identity)


@pytest.mark.parametrize("how", list(UNDONE))
async def test_a_charge_that_succeeds_after_a_timeout_is_undone_by_the_cancel_that_follows(
    cluster: Any, nodes: Nodes, how: str
) -> None:
    identity = await begun(nodes["same"], paying())
    await fire_timeout(nodes["other"], identity)
    await ends(cluster, nodes, identity, how)
    assert (await at_rest(nodes["other"], identity)).status is Status.FAULTED

    await nodes["other"].operators.cancel(identity, who="ann")
    assert (await at_rest(nodes["other"], identity)).status is Status.CANCELED

    assert bank.log[1:] == UNDONE[how]
    await cluster.check(nodes["idle"], identity)


async def test_a_retry_after_a_timeout_continues_the_charge_and_registers_one_compensation(
    cluster: Any, nodes: Nodes
) -> None:
    identity = await begun(nodes["same"], paying())
    await fire_timeout(nodes["same"], identity)
    await ends(cluster, nodes, identity, "ok")
    await at_rest(nodes["same"], identity)

    await nodes["same"].operators.retry(identity, who="ann")

    assert (await at_rest(nodes["same"], identity)).status is Status.FINISHED
    assert bank.log == ["charge 5", "answer", "charge 5", "answer"]
    recorded = [item.execution_id for item in await nodes["idle"].journal(identity) if item.activity_id == "charge"]
    assert len(set(recorded)) == 1  # One execution, one key.
    await cluster.check(nodes["idle"], identity)


async def test_a_retry_while_the_charge_ends_takes_its_place(cluster: Any, nodes: Nodes) -> None:
    inner = Sequence(charge.bind(amount=5, result="receipt", id="charge"))
    workflow = Workflow(
        Sequence(
            Compensable(body=inner, compensation=refund.bind(receipt=expr("receipt"))),
            id="work",
            timeout=HOUR,
            retry=Retry(attempts=2, delay=timedelta(0)),
        ),
        id="retrying",
        variables={"receipt": "none"},
    )
    identity = await begun(nodes["same"], workflow)
    marks = (await nodes["same"].read(identity))._live.bookmarks.values()
    (timer,) = [item.id for item in marks if item.kind is BookmarkKind.TIMEOUT]
    await nodes["same"].ask(ResumeJob(nodes["same"].key(identity), timer))
    bank.answers.set()

    assert (await at_rest(nodes["same"], identity)).status is Status.FINISHED
    assert not [entry for entry in bank.log if entry.startswith("refund")]
    await cluster.check(nodes["idle"], identity)


@pytest.mark.parametrize(("how", "undone"), [("ok", "refund receipt 5"), ("fails", None)])
async def test_a_handler_that_compensates_waits_for_the_end_of_the_charge(
    cluster: Any, nodes: Nodes, how: str, undone: str | None
) -> None:
    work = Sequence(
        Compensable(
            body=charge.bind(amount=5, result="receipt", id="charge"), compensation=refund.bind(receipt=expr("receipt"))
        ),
        id="work",
        timeout=HOUR,
    )
    workflow = Workflow(
        Try(body=work, catches=[{"activity": Compensate()}]), id="handled", variables={"receipt": "none"}
    )
    identity = await begun(nodes["same"], workflow)
    marks = (await nodes["same"].read(identity))._live.bookmarks.values()
    (timer,) = [item.id for item in marks if item.kind is BookmarkKind.TIMEOUT]
    await nodes["other"].ask(ResumeJob(nodes["other"].key(identity), timer))
    assert bank.log == ["charge 5"]

    await ends(cluster, nodes, identity, how)

    assert (await at_rest(nodes["same"], identity)).status is Status.FINISHED
    assert bank.log == ["charge 5", "answer", *([undone] if undone else [])]
    await cluster.check(nodes["idle"], identity)


async def test_a_body_with_more_work_is_not_undone(cluster: Any, nodes: Nodes) -> None:
    body = Sequence(charge.bind(amount=5, result="receipt", id="charge"), charge.bind(amount=7, id="again"))
    identity = await begun(nodes["same"], paying(body))
    await nodes["other"].operators.cancel(identity, who="ann")
    await ends(cluster, nodes, identity, "ok")

    assert (await at_rest(nodes["other"], identity)).status is Status.CANCELED
    assert bank.log == ["charge 5", "answer", "unreserve"]
    await cluster.check(nodes["idle"], identity)


async def test_a_step_that_succeeds_after_a_cancel_is_undone(cluster: Any, nodes: Nodes) -> None:
    identity = await begun(nodes["same"], paying(queue="default"))
    await nodes["idle"].operators.cancel(identity, who="ann")
    await ends(cluster, nodes, identity, "ok")

    assert (await at_rest(nodes["other"], identity)).status is Status.CANCELED
    assert bank.log[1:] == UNDONE["ok"]


async def test_terminate_undoes_nothing(cluster: Any, nodes: Nodes) -> None:
    identity = await begun(nodes["same"], paying())
    await nodes["other"].operators.cancel(identity, who="ann")
    await nodes["other"].operators.cancel(identity, terminate=True, who="ann")
    bank.answers.set()

    assert (await at_rest(nodes["other"], identity)).status is Status.CANCELED
    await nodes["same"].settled(identity)
    assert bank.log in (["charge 5"], ["charge 5", "answer"])
    await cluster.check(nodes["idle"], identity)
