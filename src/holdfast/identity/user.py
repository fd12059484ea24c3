"""User: an account of a person or a service. Workers read it, too: this module needs no packages of the server."""

from __future__ import annotations

from datetime import datetime

from msgspec import Struct


class User(Struct, frozen=True, kw_only=True):
    id: str
    """Login name in lower case."""
    name: str
    """Display name."""
    password: str = ""
    """Password hash; empty disables sign-in by password."""
    roles: tuple[str, ...] = ()
    active: bool = True
    is_service: bool = False
    """A service account: it has no password, and programs act for it with API keys."""
    created: datetime
