"""Workflows of the order test: each reads numbered events, with or without an effect between two waits. `holdfast worker` imports
this module."""

from __future__ import annotations

from holdfast import activity, wait_for, workflow


@activity
async def write_down(number: int) -> int:
    return number


@workflow
async def reads_own(count: int) -> list[int]:
    got: list[int] = []
    while len(got) < count:
        number = await wait_for("numbered")
        got.append(number)
    return got


@workflow
async def reads_own_with_effects(count: int) -> list[int]:
    got: list[int] = []
    while len(got) < count:
        number = await wait_for("numbered")
        number = await write_down(number)
        got.append(number)
    return got


@workflow
async def reads_key(name: str, count: int) -> list[int]:
    got: list[int] = []
    while len(got) < count:
        number = await wait_for("numbered", key=name)
        number = await write_down(number)
        got.append(number)
    return got
