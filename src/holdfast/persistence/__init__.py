"""Keeping: the stores. `store_from_url` finds the one that an address names."""

from __future__ import annotations

from typing import Any

from holdfast import ports
from holdfast.persistence.url import store_from_url


class Store:
    """Where instances are kept. `Store.from_url("sqlite:///holdfast.db")` makes one that is not open yet; what it must do is
    written in `holdfast.ports.Store`."""

    @staticmethod
    def from_url(url: str, **options: Any) -> ports.Store:
        """`sqlite:///file.db`, `postgresql://…`, `mysql://…`, `memory://`, or the scheme of an installed plugin."""
        return store_from_url(url, **options)


__all__ = ["Store", "store_from_url"]
