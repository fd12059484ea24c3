"""Lookup of stores by address: `sqlite:///file.db`, `postgresql://…`, `mysql://…`, `memory://`, or a plugin's scheme."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any
from urllib.parse import urlsplit

from holdfast.errors import StoreMisconfigured
from holdfast.ports import Store, StoreFactory

ENTRY_POINTS = "holdfast.stores"
"""Entry point group with which packages register a store: name = scheme, value = a factory."""

_OURS: Mapping[str, tuple[str, str, str | None]] = {
    "memory": ("holdfast.persistence.memory.url", "memory_from_url", None),
    "sqlite": ("holdfast.persistence.sql.sqlite.url", "sqlite_from_url", None),
    "postgresql": ("holdfast.persistence.sql.postgresql.url", "postgresql_from_url", "postgresql"),
    "postgres": ("holdfast.persistence.sql.postgresql.url", "postgresql_from_url", "postgresql"),
    "mysql": ("holdfast.persistence.sql.mysql.url", "mysql_from_url", "mysql"),
    "mariadb": ("holdfast.persistence.sql.mysql.url", "mysql_from_url", "mysql"),
}
"""Scheme → module, factory, and the extra that installs the driver."""


def store_from_url(url: str, *, plugins: Mapping[str, StoreFactory] | None = None, **options: Any) -> Store:
    """Make the store of an address, not yet open. `options` are passed to its factory (`codec`, `now`, `retry` …)."""
    try:
        scheme = urlsplit(url).scheme.lower()
    except ValueError as error:
        raise StoreMisconfigured(f"The store's address cannot be read: {error}. Correct it.") from error
    if not scheme:
        raise StoreMisconfigured(f"'{url}' is not a store address. Write it like sqlite:///holdfast.db or memory://")
    factory = (plugins or {}).get(scheme) or _own_factory(scheme) or _installed_factory(scheme)
    if factory is None:
        known = sorted({*_OURS, *(plugins or {}), *(point.name for point in entry_points(group=ENTRY_POINTS))})
        close = get_close_matches(scheme, known, n=1)
        guess = f" Did you mean {close[0]}?" if close else ""
        raise StoreMisconfigured(
            f"No store is registered for '{scheme}:'.{guess} Known: {', '.join(known)}. "
            "Install the package of the plugin for this scheme, or register a factory for it."
        )
    return factory(url, **options)


def _own_factory(scheme: str) -> StoreFactory | None:
    if scheme not in _OURS:
        return None
    module, name, extra = _OURS[scheme]
    try:
        factory: StoreFactory = getattr(import_module(module), name)
    except ModuleNotFoundError as error:
        if extra is None or error.name is None or error.name.startswith("holdfast"):
            raise
        raise StoreMisconfigured(
            f"The driver '{error.name}' for {scheme} is not installed. Install it with: pip install 'holdfast[{extra}]'"
        ) from error
    return factory


def _installed_factory(scheme: str) -> StoreFactory | None:
    for point in entry_points(group=ENTRY_POINTS):
        if point.name == scheme:
            factory: StoreFactory = point.load()
            return factory
    return None
