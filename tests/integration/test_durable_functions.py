"""A plain Python workflow is kept like any other: another engine on the same store goes on with it."""

from __future__ import annotations

from pathlib import Path

from holdfast import Holdfast, Status, Store, activity, wait_for, workflow


@activity
async def doubled(amount: int) -> int:
    return amount * 2


@workflow
async def bill(amount: int) -> int:
    total = await doubled(amount)
    paid = await wait_for(int, key="bill")
    return total - paid


async def test_a_function_goes_on_in_another_engine(tmp_path: Path) -> None:
    address = f"sqlite:///{tmp_path / 'kept.db'}"
    store = Store.from_url(address)
    await store.open()
    async with Holdfast(entry_points=False).runtime_on(store) as runtime:
        started = await runtime.start(bill, {"amount": 21})
        assert started.result is not None
        waiting = await runtime.settle(started.result.instance_id)
        assert waiting.status is Status.SUSPENDED
    await store.close()

    again = Store.from_url(address)
    await again.open()
    engine = Holdfast(activities=[doubled], entry_points=False)
    async with engine.runtime_on(again) as runtime:
        ended = await runtime.resume(waiting.instance_id, payload=2)
        assert ended.status is Status.FINISHED
        assert ended.outputs == {"result": 40}
    await again.close()


def test_validation_has_nothing_against_it() -> None:
    assert Holdfast(activities=[doubled]).validate(bill) == []
