"""Lookup of stores by address, and errors that name the remedy."""

from __future__ import annotations

from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path

import pytest

from holdfast.errors import StoreMisconfigured
from holdfast.persistence import store_from_url, url as url_module
from holdfast.persistence.memory import MemoryStore
from holdfast.persistence.sql.sqlite import SqliteStore


def test_addresses_of_our_own_stores(tmp_path: Path) -> None:
    assert isinstance(store_from_url("memory://"), MemoryStore)
    assert isinstance(store_from_url(f"sqlite:///{tmp_path}/a.db"), SqliteStore)
    assert isinstance(store_from_url("SQLite:///relative.db"), SqliteStore)


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("holdfast.db", "is not a store address"),
        ("", "is not a store address"),
        ("sqlite://holdfast.db", "Write three slashes: sqlite:///holdfast.db"),
        ("sqlite://", "has no file"),
        ("sqlite:///:memory:", "memory://"),
        ("sqlite:///a.db?mode=ro", "takes none"),
        ("memory://name", "takes none"),
        ("sqlit:///a.db", "Did you mean sqlite?"),
        ("oracle://host/db", "package of the plugin"),
    ],
)
def test_invalid_addresses(url: str, message: str) -> None:
    with pytest.raises(StoreMisconfigured) as caught:
        store_from_url(url)

    assert message in str(caught.value)


def test_a_scheme_by_argument() -> None:
    store = MemoryStore()

    assert store_from_url("mine://somewhere", plugins={"mine": lambda url: store}) is store


def test_a_scheme_by_an_installed_package(monkeypatch: pytest.MonkeyPatch) -> None:
    point = EntryPoint("outside", "holdfast.persistence.memory:MemoryStore", url_module.ENTRY_POINTS)
    monkeypatch.setattr(url_module, "entry_points", lambda group: EntryPoints([point]))

    assert isinstance(store_from_url("outside://x"), MemoryStore)


def test_a_missing_driver_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise ModuleNotFoundError("No module named 'asyncpg'", name="asyncpg")

    monkeypatch.setattr(url_module, "import_module", missing)

    with pytest.raises(StoreMisconfigured, match=r"'asyncpg' .* pip install 'holdfast\[postgresql\]'"):
        store_from_url("postgresql://localhost/x")
