"""Signing secret: from the settings, or generated once and stored, so that all nodes share it."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from datetime import datetime

from msgspec import Struct

from holdfast.errors import AlreadyStored, SettingsError
from holdfast.identity.records import Shelf
from holdfast.ports.store import RecordStore

LENGTH_MIN = 32
NAME = "signing"


class KeptSecret(Struct, frozen=True, kw_only=True):
    secret: str


async def signing_secret(store: RecordStore, tenant: str, now: Callable[[], datetime], given: str = "") -> bytes:
    if given:
        if len(given) < LENGTH_MIN:
            raise SettingsError(
                f"auth_secret has {len(given)} characters; it needs at least {LENGTH_MIN} random characters, such as the "
                "output of `python -c 'import secrets; print(secrets.token_urlsafe(48))'`."
            )
        return given.encode()
    shelf = Shelf(store, tenant, "secret", KeptSecret, now)
    kept = await shelf.get(NAME)
    if kept is None:
        try:
            await shelf.add(NAME, KeptSecret(secret=secrets.token_urlsafe(48)))
        except AlreadyStored:
            pass  # Another node was faster; use its secret.
        kept = await shelf.get(NAME)
    assert kept is not None
    return kept.secret.encode()
