"""Back-off: growing pauses and a time limit."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from itertools import islice

import pytest

from holdfast.dispatch.backoff import pauses, retrying
from holdfast.errors import TransportUnavailable


def is_transient(error: BaseException) -> bool:
    return isinstance(error, ConnectionError)


def test_pauses_grow_up_to_the_longest() -> None:
    found = list(islice(pauses(timedelta(seconds=1), timedelta(seconds=8)), 10))

    for pause, middle in zip(found, [1, 2, 4, 8, 8, 8, 8, 8, 8, 8], strict=True):
        assert middle * 0.75 <= pause.total_seconds() <= middle * 1.25


async def test_transient_errors_are_retried() -> None:
    tries = 0

    async def operation() -> str:
        nonlocal tries
        tries += 1
        if tries < 3:
            raise ConnectionResetError("gone")
        return "done"

    assert await retrying(operation, is_transient=is_transient, timeout=timedelta(seconds=30), what="It") == "done"
    assert tries == 3


async def test_other_errors_are_raised_at_once() -> None:
    async def operation() -> None:
        raise ValueError("never")

    with pytest.raises(ValueError, match="never"):
        await retrying(operation, is_transient=is_transient, timeout=timedelta(seconds=30), what="It")


async def test_the_timeout_error_names_place_cause_and_remedy() -> None:
    async def operation() -> None:
        raise ConnectionResetError("gone")

    with pytest.raises(
        TransportUnavailable, match=r"It did not answer for 0.1 s \(ConnectionResetError: gone\)"
    ) as told:
        await retrying(operation, is_transient=is_transient, timeout=timedelta(seconds=0.1), what="It")

    assert isinstance(told.value.__cause__, ConnectionResetError)
    assert "store still has the work" in str(told.value)


async def test_a_missing_reply_ends_with_the_timeout() -> None:
    with pytest.raises(TransportUnavailable, match="did not answer"):
        await retrying(asyncio.Event().wait, is_transient=is_transient, timeout=timedelta(seconds=0.1), what="It")
