"""The mark where a value was left out."""

from __future__ import annotations

from msgspec import Struct

__all__ = ["Omitted"]


class Omitted(Struct, frozen=True, kw_only=True):
    """Stands where a value was too large for the journal, or could not be kept at all (then without size and hash)."""

    type: str
    size: int | None
    hash: str | None
