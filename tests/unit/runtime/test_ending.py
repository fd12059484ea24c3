"""Tasks that run for ever, and how they end."""

from __future__ import annotations

import asyncio

import pytest

from holdfast.runtime import ending


async def test_all_have_ended() -> None:
    tasks = [asyncio.create_task(asyncio.Event().wait()) for _ in range(3)]

    await ending.end(tasks)

    assert all(task.cancelled() for task in tasks)
    await ending.end(tasks)
    await ending.end([])


async def test_one_that_did_not_hear_it_is_told_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ending, "AGAIN", 0.01)
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
        await ending.end([task])

    assert (task.cancelled(), deaf) == (True, 0)
