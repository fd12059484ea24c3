"""What is said of a store that cannot be used now, the same for all."""

from __future__ import annotations

from holdfast.errors import StoreClosed


def not_open() -> StoreClosed:
    return StoreClosed("The store is not open. Call `await store.open()` first, and use it before `close`.")


def forked() -> StoreClosed:
    return StoreClosed("The store was opened before this process was forked. Open a store of its own in each process.")
