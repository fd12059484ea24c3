"""Worker numbers of the nodes of a cluster."""

from __future__ import annotations

import pytest

from holdfast.errors import StoreError
from holdfast.model.cluster import free_worker


def test_workers_run_out() -> None:
    assert free_worker(set(), 5) == 5
    assert free_worker({5, 6}, 5) == 7
    assert free_worker(set(range(1, 1024)), 1023) == 0
    with pytest.raises(StoreError, match="worker numbers"):
        free_worker(set(range(1024)), 0)
