"""Synchronous code that waits for an awaitable, and continues where it stopped."""

from __future__ import annotations

import asyncio
import contextvars
from typing import Any

import pytest

from holdfast.execution import suspension
from holdfast.execution.suspension import Suspended, begin, may_wait, wait_for

NAME = contextvars.ContextVar("name", default="outside")


async def later(value: Any) -> Any:
    await asyncio.sleep(0)
    return value


def test_code_that_does_not_wait_returns_its_value() -> None:
    assert begin(lambda a, b: a + b, 1, 2) == 3


def test_an_error_reaches_the_caller() -> None:
    with pytest.raises(ZeroDivisionError):
        begin(lambda: 1 / 0)


async def test_code_continues_with_the_result_of_the_awaitable() -> None:
    steps = []

    def work(first: int) -> int:
        steps.append("begun")
        second = wait_for(later(2))
        steps.append("continued")
        return int(first + second + wait_for(later(3)))

    found = begin(work, 1)
    assert isinstance(found, Suspended)
    assert steps == ["begun"]
    assert await found.finish() == 6
    assert steps == ["begun", "continued"]
    assert await suspension.run(work, 1) == 6


async def test_an_error_of_the_awaitable_is_raised_inside_the_code() -> None:
    async def fails() -> None:
        raise ValueError("no")

    def work() -> str:
        try:
            wait_for(fails())
        except ValueError as error:
            return f"handled {error}"
        return "not raised"

    assert await suspension.run(work) == "handled no"


async def test_a_cancellation_ends_the_code() -> None:
    ended = []

    def work() -> None:
        try:
            wait_for(asyncio.Event().wait())
        finally:
            ended.append(True)

    task = asyncio.ensure_future(suspension.run(work))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert ended == [True]


async def test_only_code_below_begin_may_wait() -> None:
    assert not may_wait()
    assert await suspension.run(may_wait)
    assert not may_wait()


async def test_context_variables_do_not_leak_while_the_code_waits() -> None:
    def work() -> tuple[str, str]:
        NAME.set("inside")
        wait_for(later(None))
        return NAME.get(), "done"

    found = begin(contextvars.Context().run, work)
    assert NAME.get() == "outside"
    assert await found.finish() == ("inside", "done")
    assert NAME.get() == "outside"


async def test_the_code_sees_the_context_variables_of_its_caller() -> None:
    NAME.set("caller")

    def work() -> tuple[str, str]:
        before = NAME.get()
        wait_for(later(None))
        return before, NAME.get()

    assert await suspension.run(work) == ("caller", "caller")


async def test_many_wait_side_by_side() -> None:
    def work(number: int) -> int:
        return sum(int(wait_for(later(number))) for _ in range(10))

    assert await asyncio.gather(*(suspension.run(work, number) for number in range(50))) == [
        10 * number for number in range(50)
    ]
