"""Accounts straight on a store, for `holdfast users` and `holdfast keys`: also before a server ever ran there."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from holdfast.cli.engines import make_engine
from holdfast.identity.accounts import Accounts

T = TypeVar("T")


def with_accounts(url: str | None, work: Callable[[Accounts], Awaitable[T]]) -> T:
    async def run() -> T:
        engine = make_engine()
        store = engine.store(url)
        await store.open()
        try:
            accounts = await Accounts.open(store, engine.clock.now, secret=engine.settings.auth_secret)
            try:
                return await work(accounts)
            finally:
                accounts.close()
        finally:
            await store.close()
            engine.close()

    return asyncio.run(run())
