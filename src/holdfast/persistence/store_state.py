"""Errors of a store that is not open, or that was opened by another process. All stores share them."""

from __future__ import annotations

from holdfast.errors import StoreClosed


def not_open() -> StoreClosed:
    return StoreClosed("The store is not open. Call `await store.open()` first, and use it before `close`.")


def forked() -> StoreClosed:
    return StoreClosed("The store was opened before this process was forked. Open a separate store in each process.")
