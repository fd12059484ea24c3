"""Guard rows: idempotency keys and activation slots, in one table.

Inserted by the commit that they guard, so that a guard exists only if its burst does. A slot is given back by the
commit that ends its instance; a key stays 7 days longer than its instance, so that a late retry is answered.
"""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from hashlib import blake2b
from typing import NamedTuple

from msgspec import Struct

from holdfast.model.storable_text import storable

_NAME_MAX = 200
_SEPARATOR = "|"


class GuardKind(StrEnum):
    KEY = "key"
    SLOT = "slot"


class GuardRef(NamedTuple):
    kind: GuardKind
    name: str


class Guard(Struct, frozen=True, kw_only=True):
    kind: GuardKind
    name: str
    fingerprint: str = ""
    """Of the request's body: the same key with another one is refused (422)."""

    @property
    def ref(self) -> GuardRef:
        return GuardRef(self.kind, self.name)


class GuardRow(Struct, frozen=True, kw_only=True):
    tenant: str
    kind: GuardKind
    name: str
    fingerprint: str = ""
    instance_id: str
    created: datetime
    released: datetime | None = None
    """When its instance was deleted; from then on the key lives for its last days."""


def _joined(*parts: str) -> str:
    """One name for the parts, unambiguous, short enough for an index of any database."""
    name = _SEPARATOR.join(part.replace("\\", "\\\\").replace(_SEPARATOR, "\\" + _SEPARATOR) for part in parts)
    if len(name.encode()) <= _NAME_MAX:
        return name
    return "#" + blake2b(name.encode(), digest_size=24).hexdigest()


def idempotency_key(*, operation: str, target: str, key: str, fingerprint: str = "") -> Guard:
    storable(key, "idempotency key")
    return Guard(kind=GuardKind.KEY, name=_joined(operation, target, key), fingerprint=fingerprint)


def activation_slot(*, strategy: str, definition_id: str = "", correlation_id: str = "") -> Guard:
    return Guard(kind=GuardKind.SLOT, name=_joined(strategy, definition_id, correlation_id))
