"""Memory store: the reference implementation of the store contract, used in tests."""

from __future__ import annotations

from holdfast.persistence.memory.store import MemoryStore

__all__ = ["MemoryStore"]
