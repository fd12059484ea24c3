"""Password hashing with Argon2id in a small thread pool.

One hash deliberately takes a quarter of a second and 64 MiB. The pool bounds the load of many concurrent sign-ins; further
requests wait in its queue.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from holdfast.errors import AccountRefused

T = TypeVar("T")

LENGTH_MIN = 8
LENGTH_MAX = 1024
PARALLEL = 2


def check_password(password: str) -> None:
    if len(password) < LENGTH_MIN:
        raise AccountRefused(f"The password is too short: use at least {LENGTH_MIN} characters.")
    if len(password) > LENGTH_MAX:
        raise AccountRefused(f"The password is too long: use at most {LENGTH_MAX} characters.")


def make_password() -> str:
    return secrets.token_urlsafe(15)


class Passwords:
    def __init__(self, hasher: PasswordHasher | None = None, *, parallel: int = PARALLEL) -> None:
        self._hasher = hasher or PasswordHasher()
        self._threads = ThreadPoolExecutor(parallel, thread_name_prefix="holdfast-password")
        self._decoy: str | None = None

    async def hash(self, password: str) -> str:
        return await self._run(self._hasher.hash, password)

    async def verify(self, hashed: str | None, password: str) -> bool:
        """With None, verify against a decoy hash: the response time must not reveal whether a name exists."""
        if len(password) > LENGTH_MAX:
            return False
        if hashed is None:
            if self._decoy is None:
                self._decoy = await self.hash(make_password())
            await self._run(self._try, self._decoy, password)
            return False
        return await self._run(self._try, hashed, password)

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
