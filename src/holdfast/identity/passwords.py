"""Password hashing with Argon2id in a small thread pool.

One hash deliberately takes a quarter of a second and 64 MiB. The pool bounds the load of many concurrent sign-ins. Further
sign-ins wait in a queue; beyond its length they are refused. Known devices have places of their own in the queue.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import TypeVar

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from holdfast.errors import AccountRefused, SignInBusy

T = TypeVar("T")

LENGTH_MIN = 8
LENGTH_MAX = 1024
PARALLEL = 2
QUEUE_MAX = 16
BUSY_WAIT = timedelta(seconds=2)
"""Time after which a refused sign-in may try again: the time of a full queue."""


def check_password(password: str) -> None:
    if len(password) < LENGTH_MIN:
        raise AccountRefused(f"The password is too short: use at least {LENGTH_MIN} characters.")
    if len(password) > LENGTH_MAX:
        raise AccountRefused(f"The password is too long: use at most {LENGTH_MAX} characters.")


def make_password() -> str:
    return secrets.token_urlsafe(15)


class Passwords:
    def __init__(
        self, hasher: PasswordHasher | None = None, *, parallel: int = PARALLEL, queue_max: int = QUEUE_MAX
    ) -> None:
        self._hasher = hasher or PasswordHasher()
        self._threads = ThreadPoolExecutor(parallel, thread_name_prefix="holdfast-password")
        self._decoy: str | None = None
        self._queue_max = queue_max
        self._queued = {False: 0, True: 0}
        """Sign-ins that are verified or wait for it, by whether their device is known."""

    async def hash(self, password: str) -> str:
        return await self._run(self._hasher.hash, password)

    async def verify(self, hashed: str | None, password: str, *, is_known: bool = False) -> bool:
        """With None, verify against a decoy hash: the response time must not reveal whether a name exists. Raises `SignInBusy`
        if the queue is full; `is_known` selects the queue of known devices."""
        if len(password) > LENGTH_MAX:
            return False
        self.check_room(is_known=is_known)
        self._queued[is_known] += 1
        try:
            if hashed is None:
                if self._decoy is None:
                    self._decoy = await self.hash(make_password())
                await self._run(self._try, self._decoy, password)
                return False
            return await self._run(self._try, hashed, password)
        finally:
            self._queued[is_known] -= 1

    def check_room(self, *, is_known: bool = False) -> None:
        """Raises `SignInBusy` if the queue is full."""
        if self._queued[is_known] >= self._queue_max:
            raise SignInBusy(BUSY_WAIT)

    def is_outdated(self, hashed: str) -> bool:
        """Whether it was hashed with other parameters than the current ones."""
        return self._hasher.check_needs_rehash(hashed)

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _try(self, hashed: str, password: str) -> bool:
        try:
            return self._hasher.verify(hashed, password)
        except (VerificationError, InvalidHashError):
            return False

    async def _run(self, work: Callable[..., T], *args: str) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._threads, work, *args)
