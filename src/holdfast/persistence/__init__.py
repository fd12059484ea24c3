"""Stores: memory, SQLite, PostgreSQL, MySQL. `store_from_url` returns the store of an address."""

from __future__ import annotations

from typing import Any

from holdfast import ports
from holdfast.persistence.url import store_from_url


class Store:
    """Factory of stores: `Store.from_url("sqlite:///holdfast.db")` makes a store that is not open yet. `holdfast.ports.Store`
    is the contract of stores."""

    @staticmethod
    def from_url(url: str, **options: Any) -> ports.Store:
        """`sqlite:///file.db`, `postgresql://…`, `mysql://…`, `memory://`, or the scheme of an installed plugin."""
        return store_from_url(url, **options)


__all__ = ["Store", "store_from_url"]
