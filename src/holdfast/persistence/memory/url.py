"""`memory://`: a new, empty store each time."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

from holdfast.errors import StoreMisconfigured
from holdfast.persistence.memory.store import MemoryStore
from holdfast.persistence.memory.tables import system_now


def memory_from_url(url: str, *, now: Callable[[], datetime] = system_now, **options: Any) -> MemoryStore:
    """Options of other stores (`codec`, `retry`, `connections`) are ignored: this store writes no bytes."""
    if url.removeprefix("memory:").strip("/"):
        raise StoreMisconfigured(f"'{url}' has a name, but a memory store takes none. Write memory://")
    return MemoryStore(now)
