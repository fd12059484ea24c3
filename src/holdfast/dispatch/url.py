"""Lookup of transports by address: `local://`, `amqp://…`, `nats://…`, `redis://…`, or the scheme of a plugin."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any
from urllib.parse import urlsplit

from holdfast.errors import TransportMisconfigured
from holdfast.ports import Transport, TransportFactory

ENTRY_POINTS = "holdfast.transports"
"""Entry point group with which packages register a transport: name = scheme, value = a factory."""

_OURS: Mapping[str, tuple[str, str, str | None]] = {
    "local": ("holdfast.dispatch.local", "local_from_url", None),
    "amqp": ("holdfast.dispatch.rabbitmq", "rabbitmq_from_url", "rabbitmq"),
    "amqps": ("holdfast.dispatch.rabbitmq", "rabbitmq_from_url", "rabbitmq"),
    "nats": ("holdfast.dispatch.nats", "nats_from_url", "nats"),
    "redis": ("holdfast.dispatch.redis", "redis_from_url", "redis"),
    "rediss": ("holdfast.dispatch.redis", "redis_from_url", "redis"),
}
"""Scheme → module, factory, and the extra that installs the driver."""


def transport_from_url(url: str, *, plugins: Mapping[str, TransportFactory] | None = None, **options: Any) -> Transport:
    """Make the transport of an address, not yet open. `options` are passed to its factory (`listener` …)."""
    try:
        scheme = urlsplit(url).scheme.lower()
    except ValueError as error:
        raise TransportMisconfigured(f"The transport's address cannot be read: {error}.") from error
    if not scheme or "://" not in url:
        raise TransportMisconfigured(
            "The transport's address has no scheme. Write it like local:// or amqp://user:password@host:5672/"
        )
    factory = (plugins or {}).get(scheme) or _own_factory(scheme) or _installed_factory(scheme)
    if factory is None:
        known = sorted({*_OURS, *(plugins or {}), *(point.name for point in entry_points(group=ENTRY_POINTS))})
        close = get_close_matches({"rabbitmq": "amqp"}.get(scheme, scheme), known, n=1)
        guess = f" Did you mean {close[0]}?" if close else ""
        raise TransportMisconfigured(
            f"No transport is registered for '{scheme}:'.{guess} Known: {', '.join(known)}. "
            "Install the package of the plugin for this scheme, or register a factory for it."
        )
    return factory(url, **options)


def _own_factory(scheme: str) -> TransportFactory | None:
    if scheme not in _OURS:
        return None
    module, name, extra = _OURS[scheme]
    try:
        factory: TransportFactory = getattr(import_module(module), name)
    except ModuleNotFoundError as error:
        if extra is None or error.name is None or error.name.startswith("holdfast"):
            raise
        raise TransportMisconfigured(
            f"The driver '{error.name}' for {scheme} is not installed. Install it with: pip install 'holdfast[{extra}]'"
        ) from error
    return factory


def _installed_factory(scheme: str) -> TransportFactory | None:
    for point in entry_points(group=ENTRY_POINTS):
        if point.name == scheme:
            factory: TransportFactory = point.load()
            return factory
    return None
