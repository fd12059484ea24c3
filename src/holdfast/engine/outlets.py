"""The outlets that the settings name: webhooks and brokers."""

from __future__ import annotations

from holdfast.dispatch.outlets import BROKERS, BrokerOutlet
from holdfast.errors import SettingsError
from holdfast.ports import Outlet
from holdfast.runtime.commits.lifecycle_events import EVENT_NAMES
from holdfast.runtime.outbox.webhook import Webhook
from holdfast.settings import Settings


def outlets_of(settings: Settings) -> list[Outlet]:
    """Raises `SettingsError` for an invalid address or an unknown event."""
    names = _parts(settings.event_names)
    unknown = [name for name in names if name not in EVENT_NAMES]
    if unknown:
        raise SettingsError(
            f"event_names: there is no event '{unknown[0]}'. There are: {', '.join(EVENT_NAMES)}.",
        )
    return [_outlet(url, names, settings.event_secret) for url in _parts(settings.event_outlets)]


def _outlet(url: str, names: list[str], secret: str) -> Outlet:
    scheme, _, rest = url.partition("://")
    if not rest:
        raise SettingsError(
            f"event_outlets: '{url}' is not an address. Write https://…, amqp://…, nats://… or redis://…."
        )
    name = f"{scheme}:{rest.rpartition('@')[2]}"  # Stored in outbox rows: without password, and the same on every node.
    if scheme in {"http", "https"}:
        return Webhook(url, name=name, events=names, secret=secret or None)
    if scheme in BROKERS:
        return BrokerOutlet(url, name=name, events=names)
    raise SettingsError(
        f"event_outlets: no outlet delivers to '{scheme}://'. Use https, http, {', '.join(sorted(BROKERS))}."
    )


def _parts(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]
