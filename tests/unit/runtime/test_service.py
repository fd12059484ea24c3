"""Tasks that run for ever, and how they end."""

from __future__ import annotations

import asyncio

import pytest

from holdfast.runtime import service


async def test_all_have_ended() -> None:
    tasks = [asyncio.create_task(asyncio.Event().wait()) for _ in range(3)]

    await service.end_tasks(tasks)

    assert all(task.cancelled() for task in tasks)
    await service.end_tasks(tasks)
    await service.end_tasks([])


async def test_one_that_did_not_hear_it_is_told_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "CANCEL_AGAIN_AFTER", 0.01)
    deaf = 2

    async def hardly_hears() -> None:
        nonlocal deaf
        while True:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                if not deaf:
                    raise
                deaf -= 1

    task = asyncio.create_task(hardly_hears())
    await asyncio.sleep(0)

    async with asyncio.timeout(30):
        await service.end_tasks([task])

    assert (task.cancelled(), deaf) == (True, 0)
