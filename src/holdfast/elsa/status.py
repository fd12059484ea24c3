"""Elsa's status pair for an instance status: Elsa has a status and a sub-status, Holdfast has one status."""

from __future__ import annotations

from collections.abc import Mapping

_PAIRS: Mapping[str, tuple[str, str]] = {
    "pending": ("Running", "Pending"),
    "running": ("Running", "Executing"),
    "suspended": ("Running", "Suspended"),
    "finished": ("Finished", "Finished"),
    "faulted": ("Finished", "Faulted"),
    "canceling": ("Running", "Executing"),
    "canceled": ("Finished", "Cancelled"),
}


def elsa_status(status: str) -> tuple[str, str]:
    """Elsa's status and sub-status for one of our statuses."""
    return _PAIRS[str(status)]
