"""Errors of a store that cannot be used: each names the remedy."""

from __future__ import annotations

from holdfast.persistence.store_state import forked, not_open


def test_a_store_that_is_not_open_names_open() -> None:
    assert "await store.open()" in str(not_open())


def test_a_forked_store_names_a_store_per_process() -> None:
    assert "in each process" in str(forked())
