"""Retries of transient store errors: which errors are transient, how often to retry, and the back-off."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import TypeVar

from msgspec import Struct

from holdfast.errors import StoreError, StoreUnavailable
from holdfast.ports import TransientErrors

T = TypeVar("T")


class TransientTypes(Struct, frozen=True):
    """Transient errors by type, extended by other classifiers: those of the adapter and of the user."""

    types: tuple[type[BaseException], ...] = ()
    others: tuple[TransientErrors, ...] = ()

    def is_transient(self, error: BaseException) -> bool:
        return isinstance(error, self.types) or any(other.is_transient(error) for other in self.others)

    def extended(self, *others: TransientErrors) -> TransientTypes:
        return TransientTypes(self.types, (*self.others, *others))


DEFAULT_TRANSIENT = TransientTypes((ConnectionError, TimeoutError, asyncio.IncompleteReadError, StoreUnavailable))
"""Transient for every driver: lost connections and timeouts."""


class RetryPolicy(Struct, frozen=True, kw_only=True):
    """Number of retries and their back-off: the n-th wait is `delay * factor ** (n - 1)`, ± `jitter`."""

    retries: int = 3
    delay: timedelta = timedelta(milliseconds=500)
    factor: float = 2.0
    jitter: float = 0.25

    def wait(self, attempt: int) -> timedelta:
        return self.delay * (self.factor**attempt) * random.uniform(1 - self.jitter, 1 + self.jitter)


DEFAULT_POLICY = RetryPolicy()


def _unexplained(error: Exception) -> None:
    """No cause is known."""


async def retrying(
    operation: Callable[[], Awaitable[T]],
    *,
    transient: TransientErrors,
    policy: RetryPolicy = DEFAULT_POLICY,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    explain: Callable[[Exception], str | None] = _unexplained,
) -> T:
    """Retry transient errors up to `retries` times, then raise `StoreUnavailable`. Other errors are raised at once.

    `explain` returns the message for a known cause.
    """
    for attempt in range(policy.retries):
        try:
            return await operation()
        except Exception as error:
            if not transient.is_transient(error):
                raise
        await sleep(policy.wait(attempt).total_seconds())
    try:
        return await operation()
    except StoreError:
        raise
    except Exception as error:
        if not transient.is_transient(error):
            raise
        raise StoreUnavailable(
            explain(error)
            or f"The database call failed {policy.retries + 1} times ({type(error).__name__}: {error}). "
            "Check that the database runs and can be reached, and that no transaction holds locks for long, then try again."
        ) from error
