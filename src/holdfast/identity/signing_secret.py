"""Signing secret: from the settings, or generated once and stored, so that all nodes share it."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from datetime import datetime

from msgspec import Struct

from holdfast.errors import AlreadyStored, SettingsError
from holdfast.identity.records import RecordTable
from holdfast.ports.store import RecordStore

LENGTH_MIN = 32
NAME = "signing"


class StoredSecret(Struct, frozen=True, kw_only=True):
    secret: str


async def signing_secret(store: RecordStore, tenant: str, now: Callable[[], datetime], given: str = "") -> bytes:
    if given:
        if len(given) < LENGTH_MIN:
            raise SettingsError(
                f"auth_secret has {len(given)} characters; it needs at least {LENGTH_MIN} random characters, such as the "
                "output of `python -c 'import secrets; print(secrets.token_urlsafe(48))'`."
            )
        return given.encode()
    records = RecordTable(store, tenant, "secret", StoredSecret, now)
    stored = await records.get(NAME)
    if stored is None:
        try:
            await records.add(NAME, StoredSecret(secret=secrets.token_urlsafe(48)))
        except AlreadyStored:
            pass  # Another node was faster; use its secret.
        stored = await records.get(NAME)
    assert stored is not None
    return stored.secret.encode()
