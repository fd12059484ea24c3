"""Keeping: the stores. `store_from_url` finds the one that an address names."""

from __future__ import annotations

from holdfast.persistence.url import store_from_url

__all__ = ["store_from_url"]
