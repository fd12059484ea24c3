"""Trying again what passes by itself: which errors do, how often, how long apart."""

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
    """Errors that are transient by their type, and what others say about the rest: `own | adapter's | user's`."""

    types: tuple[type[BaseException], ...] = ()
    others: tuple[TransientErrors, ...] = ()

    def is_transient(self, error: BaseException) -> bool:
        return isinstance(error, self.types) or any(other.is_transient(error) for other in self.others)

    def extended(self, *others: TransientErrors) -> TransientTypes:
        return TransientTypes(self.types, (*self.others, *others))


DEFAULT_TRANSIENT = TransientTypes((ConnectionError, TimeoutError, asyncio.IncompleteReadError, StoreUnavailable))
"""True of every driver: a connection that broke, an answer that did not come."""


class RetryPolicy(Struct, frozen=True, kw_only=True):
    """How often and how far apart; the n-th wait is `delay * factor ** (n - 1)`, ± `jitter`."""

    retries: int = 3
    delay: timedelta = timedelta(milliseconds=500)
    factor: float = 2.0
    jitter: float = 0.25

    def wait(self, attempt: int) -> timedelta:
        return self.delay * (self.factor**attempt) * random.uniform(1 - self.jitter, 1 + self.jitter)


DEFAULT_POLICY = RetryPolicy()


async def retrying(
    operation: Callable[[], Awaitable[T]],
    *,
    transient: TransientErrors,
    policy: RetryPolicy = DEFAULT_POLICY,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> T:
    """Call until it succeeds, fails for good, or has failed `retries` times more: then `StoreUnavailable`."""
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
            f"The database did not do it in {policy.retries + 1} attempts ({type(error).__name__}: {error}). "
            "Check that it runs and can be reached, and that nobody holds its rows for long, then try again."
        ) from error
