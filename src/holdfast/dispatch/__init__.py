"""Carrying: one file per transport. `transport_from_url` finds the one that an address names."""

from __future__ import annotations

from holdfast.dispatch.steps import TransportSteps, ticket_of
from holdfast.dispatch.url import transport_from_url

__all__ = ["TransportSteps", "ticket_of", "transport_from_url"]
