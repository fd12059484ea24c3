"""The store without a database: the reference for the contract, and what tests use."""

from __future__ import annotations

from holdfast.persistence.memory.store import MemoryStore

__all__ = ["MemoryStore"]
