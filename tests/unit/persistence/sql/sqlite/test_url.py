"""Addresses of SQLite files: relative and absolute paths, and a remedy for each mistake."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.errors import StoreMisconfigured
from holdfast.persistence.sql.sqlite.url import sqlite_path


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("sqlite:///holdfast.db", "holdfast.db"),
        ("sqlite:////data/holdfast.db", "/data/holdfast.db"),
        ("sqlite:///with%20space.db", "with space.db"),
    ],
)
def test_three_slashes_are_relative_and_four_are_absolute(url: str, path: str) -> None:
    assert sqlite_path(url) == Path(path)


@pytest.mark.parametrize(
    ("url", "remedy"),
    [
        ("sqlite://holdfast.db", "sqlite:///holdfast.db"),
        ("sqlite://", "memory://"),
        ("sqlite:///:memory:", "memory://"),
        ("sqlite:///holdfast.db?timeout=5", "Remove them"),
    ],
)
def test_a_mistake_is_refused_with_its_remedy(url: str, remedy: str) -> None:
    with pytest.raises(StoreMisconfigured, match=remedy):
        sqlite_path(url)
