"""Retries: only transient errors, three times, with back-off."""

from __future__ import annotations

from datetime import timedelta

import pytest

from holdfast.errors import StoreUnavailable
from holdfast.persistence.retry import DEFAULT_TRANSIENT, RetryPolicy, TransientTypes, retrying


class Database:
    """An operation that fails a given number of times, and records the waits."""

    def __init__(self, *failures: Exception) -> None:
        self.failures = list(failures)
        self.calls = 0
        self.waits: list[float] = []

    async def ask(self) -> str:
        self.calls += 1
        if self.failures:
            raise self.failures.pop(0)
        return "answer"

    async def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)


async def test_transient_errors_are_retried() -> None:
    database = Database(ConnectionResetError(), TimeoutError())

    assert await retrying(database.ask, transient=DEFAULT_TRANSIENT, sleep=database.sleep) == "answer"

    assert database.calls == 3
    assert 0.375 <= database.waits[0] <= 0.625
    assert 0.75 <= database.waits[1] <= 1.25


async def test_a_permanent_outage_names_the_remedy() -> None:
    database = Database(*(ConnectionResetError("gone") for _ in range(9)))

    with pytest.raises(StoreUnavailable, match="Check that the database runs") as caught:
        await retrying(database.ask, transient=DEFAULT_TRANSIENT, sleep=database.sleep)

    assert database.calls == 4
    assert isinstance(caught.value.__cause__, ConnectionResetError)


async def test_other_errors_are_raised_at_once() -> None:
    database = Database(ValueError("wrong"))

    with pytest.raises(ValueError, match="wrong"):
        await retrying(database.ask, transient=DEFAULT_TRANSIENT, sleep=database.sleep)

    assert (database.calls, database.waits) == (1, [])


async def test_the_last_attempt_may_fail_for_good() -> None:
    database = Database(ConnectionResetError(), ValueError("wrong"))

    with pytest.raises(ValueError, match="wrong"):
        await retrying(database.ask, transient=DEFAULT_TRANSIENT, policy=RetryPolicy(retries=1), sleep=database.sleep)


async def test_policies_are_settings() -> None:
    database = Database(ConnectionResetError())
    policy = RetryPolicy(retries=1, delay=timedelta(seconds=3), jitter=0)

    assert await retrying(database.ask, transient=DEFAULT_TRANSIENT, policy=policy, sleep=database.sleep) == "answer"

    assert database.waits == [3.0]


def test_users_extend_transient_errors() -> None:
    extended = DEFAULT_TRANSIENT.extended(TransientTypes((LookupError,)))

    assert extended.is_transient(KeyError())
    assert extended.is_transient(ConnectionResetError())
    assert not extended.is_transient(ValueError())
    assert not DEFAULT_TRANSIENT.is_transient(KeyError())


async def test_a_known_cause_is_explained() -> None:
    async def operation() -> None:
        raise ConnectionError("lost")

    with pytest.raises(StoreUnavailable, match=r"^The cable is loose: lost$"):
        await retrying(
            operation,
            transient=DEFAULT_TRANSIENT,
            policy=RetryPolicy(retries=0),
            explain=lambda error: f"The cable is loose: {error}",
        )
