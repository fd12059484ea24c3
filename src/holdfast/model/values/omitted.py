"""Placeholder of an omitted value."""

from __future__ import annotations

from msgspec import Struct

__all__ = ["Omitted"]


class Omitted(Struct, frozen=True, kw_only=True):
    """Replaces a value that is too large for the journal, or cannot be encoded (then without size and hash)."""

    type: str
    size: int | None
    hash: str | None
