"""The harness for workflows: what it shows, sends, moves, stubs and copies."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest

from holdfast import Retry, Status, Workflow, activity, ask, first, gather, run_child, sleep, wait_for, workflow
from holdfast.activities import Delay, ExecuteWorkflow, Sequence, WriteLine
from holdfast.errors import DefinitionError, NoResult
from holdfast.testing import Harness


@dataclass
class Approval:
    approved: bool


@dataclass
class Answer:
    text: str


class Declined(Exception):
    pass


@activity
async def charge(order: str, amount: int) -> str:
    return f"{order}:{amount}"


@activity(pure=True)
async def discount(amount: int) -> int:
    return amount - 1


@activity(retry=Retry(attempts=3, delay=timedelta(minutes=1), jitter=0))
async def shaky(x: int) -> int:
    return x


@activity
async def spoil(items: list[int]) -> list[int]:
    items.append(99)
    return items


@workflow
async def fulfil(order: str, amount: int) -> str:
    if amount > 1_000:
        answer = await wait_for(Approval, key=order, timeout=timedelta(days=3), default=Approval(False))
        if not answer.approved:
            return "refused"
    try:
        return await charge(order, await discount(amount))
    except Declined as error:
        return f"declined: {error}"


@workflow
async def failing(x: int) -> int:
    await sleep(timedelta(hours=1))
    raise Declined("no")


@workflow
async def patient(x: int) -> int:
    return await shaky(x)


@workflow
async def listing() -> Any:
    items = [1]
    given = await spoil(items)
    return items, given


@workflow
async def child(x: int) -> str:
    await sleep(timedelta(days=1))
    answer = await wait_for("go")
    return f"{x}{answer}"


@workflow
async def parent(x: int) -> str:
    return await run_child(child, x)


@workflow
async def asking() -> str:
    answer = await ask("role:boss", form=Answer)
    return answer.text


@workflow
async def listening() -> Any:
    return await gather(wait_for("news", broadcast=True), wait_for("news", broadcast=True), wait_for("news"))


@workflow
async def racing() -> str:
    await first(wait_for("a"), sleep(timedelta(hours=1)))
    return "over"


async def test_an_approval_that_comes() -> None:
    async with Harness(fulfil) as flow:
        await flow.start("7", 2_000)
        assert flow.waiting_for == ["Approval"]
        assert flow.status is Status.SUSPENDED
        await flow.send(Approval(approved=True))
        assert await flow.result() == "7:1999"
        assert flow.calls(charge) == [{"order": "7", "amount": 1999}]


async def test_an_approval_that_does_not() -> None:
    async with Harness(fulfil) as flow:
        await flow.start("7", amount=2_000)
        await flow.advance(timedelta(days=2))
        assert flow.status is Status.SUSPENDED
        await flow.advance(timedelta(days=1))
        assert await flow.result() == "refused"
        assert flow.waiting_for == []


async def test_keys_are_told_apart_and_early_letters_are_kept() -> None:
    async with Harness(fulfil) as flow:
        await flow.start("7", 2_000)
        await flow.send(Approval(approved=True), key="8")
        assert flow.waiting_for == ["Approval"]
        assert flow.unread == [Approval(True)]
        await flow.send(Approval(approved=False), key="7")
        assert await flow.result() == "refused"


async def test_no_result_while_it_waits() -> None:
    async with Harness(fulfil) as flow:
        await flow.start("7", 2_000)
        with pytest.raises(NoResult, match="waits for Approval"):
            await flow.result()


async def test_what_it_raised_is_raised() -> None:
    async with Harness(failing) as flow:
        await flow.start(1)
        assert flow.waiting_for == ["sleep"]
        assert flow.next_due == flow.clock.now() + timedelta(hours=1)
        await flow.advance(timedelta(hours=1))
        with pytest.raises(Declined, match="no"):
            await flow.result()


async def test_stubs_answer_in_turn() -> None:
    async with Harness(fulfil) as flow:
        stub = flow.stub(charge, raises=Declined("card"), times=1)
        flow.stub(discount, returns=5)
        await flow.start("7", 20)
        assert await flow.result() == "declined: card"
        assert stub.calls == [{"order": "7", "amount": 5}]


async def test_after_the_last_stub_the_activity_itself() -> None:
    async with Harness(patient) as flow:
        flow.stub(shaky, raises=ValueError, times=2)
        await flow.start(4)
        assert flow.waiting_for == ["retry of shaky"]
        await flow.advance(timedelta(minutes=10))
        assert await flow.result() == 4
        assert len(flow.calls(shaky)) == 3


async def test_a_stub_that_computes() -> None:
    async with Harness(fulfil) as flow:
        flow.stub(charge, calls=lambda order, amount: f"{order} {amount}")
        await flow.start("7", 20)
        assert await flow.result() == "7 19"


async def test_arguments_and_results_are_copies() -> None:
    async with Harness(listing) as flow:
        await flow.start()
        assert await flow.result() == ([1], [1, 99])


async def test_a_child_waits_and_hears() -> None:
    async with Harness(parent) as flow:
        await flow.start(3)
        await flow.send("go", "!")
        assert flow.unread == ["!"]
        await flow.advance(timedelta(days=1))
        assert await flow.result() == "3!"


async def test_an_answer_of_a_person() -> None:
    async with Harness(asking) as flow:
        await flow.start()
        assert flow.waiting_for == ["ask"]
        await flow.answer({"text": "fine"})
        assert await flow.result() == "fine"


async def test_a_broadcast_reaches_all_that_listen_to_everyone() -> None:
    async with Harness(listening) as flow:
        await flow.start()
        await flow.send("news", 1, broadcast=True)
        assert flow.waiting_for == ["news"]
        await flow.send("news", 2)
        assert await flow.result() == [1, 1, 2]


async def test_a_race_against_the_clock() -> None:
    async with Harness(racing) as flow:
        await flow.start()
        assert flow.waiting_for == ["a", "sleep"]
        await flow.advance(timedelta(hours=2))
        assert await flow.result() == "over"
        assert any(entry.activity_id == "first" for entry in flow.journal)


async def test_canceled() -> None:
    async with Harness(racing) as flow:
        await flow.start()
        await flow.cancel()
        assert flow.status is Status.CANCELED
        with pytest.raises(NoResult, match="canceled"):
            await flow.result()


async def test_workflows_of_objects() -> None:
    steps = Sequence(Delay(duration=timedelta(hours=1)), WriteLine("done"))
    async with Harness(Workflow(steps, id="steps")) as flow:
        await flow.start()
        await flow.advance(timedelta(hours=1))
        assert await flow.result() == {}
        assert flow.lines == ["done"]


async def test_misuse_is_told() -> None:
    async with Harness(racing) as flow:
        with pytest.raises(DefinitionError, match="has not started"):
            await flow.send("a")
        await flow.start()
        with pytest.raises(DefinitionError, match="new harness"):
            await flow.start()
        with pytest.raises(DefinitionError, match="no open task"):
            await flow.answer(1)
        with pytest.raises(DefinitionError, match="only one"):
            flow.stub(charge, returns="x", raises=Declined)


@workflow
async def countdown(n: int) -> list[str]:
    told = await charge("o", n)
    return [told, *(await run_child(countdown, n - 1) if n else [])]


async def test_a_child_shares_activities_and_stubs_and_may_be_the_workflow_itself() -> None:
    async with Harness(countdown) as flow:
        flow.stub(charge, calls=lambda order, amount: f"stub {amount}")
        await flow.start(2)
        assert await flow.result() == ["stub 2", "stub 1", "stub 0"]
        assert len(flow.calls(charge)) == 3


async def test_a_workflow_by_name_may_share_activities() -> None:
    by_name = Workflow(Sequence(ExecuteWorkflow("fulfil", {"order": "a", "amount": 5}), charge.bind("b", 6)), id="both")
    async with Harness(by_name, workflows=[fulfil]) as flow:
        flow.stub(charge, returns="paid")
        await flow.start()
        assert [call["order"] for call in flow.calls(charge)] == ["a", "b"]
