"""Direct access to the accounts of a store, for `holdfast users` and `holdfast keys`. Works before any server has run."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from holdfast.cli.engines import make_engine
from holdfast.cli.existing_store import existing
from holdfast.identity.accounts import Accounts

T = TypeVar("T")


def with_accounts(url: str | None, work: Callable[[Accounts], Awaitable[T]], *, may_make: bool = False) -> T:
    """`may_make`: the first account may create the database."""

    async def run() -> T:
        engine = make_engine()
        address = url or engine.settings.store
        store = engine.store(address if may_make else existing(address))
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
