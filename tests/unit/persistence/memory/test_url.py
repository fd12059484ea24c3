"""Address of the memory store, which takes no name."""

from __future__ import annotations

import pytest

from holdfast.errors import StoreMisconfigured
from holdfast.persistence.memory.store import MemoryStore
from holdfast.persistence.memory.url import memory_from_url


def test_each_call_makes_a_new_store() -> None:
    first, second = memory_from_url("memory://"), memory_from_url("memory://")

    assert isinstance(first, MemoryStore)
    assert first is not second


def test_a_name_is_refused_with_the_remedy() -> None:
    with pytest.raises(StoreMisconfigured, match="Write memory://"):
        memory_from_url("memory://orders")
