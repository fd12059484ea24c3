"""Guard rows: idempotency keys and activation slots, in one table.

The guarded commit inserts them, so a guard exists only if its burst was committed. The commit that ends an instance releases
its slot. A key stays 7 days longer than its instance, so that a late retry gets the same answer.
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
    """Hash of the request body: the same key with another body is refused (422)."""

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
    """Time at which its instance was deleted; the retention of the key counts from here."""


def _joined(*parts: str) -> str:
    """One unambiguous name for the parts, short enough for an index in every database."""
    name = _SEPARATOR.join(part.replace("\\", "\\\\").replace(_SEPARATOR, "\\" + _SEPARATOR) for part in parts)
    if len(name.encode()) <= _NAME_MAX:
        return name
    return "#" + blake2b(name.encode(), digest_size=24).hexdigest()


def idempotency_key(*, operation: str, target: str, key: str, fingerprint: str = "") -> Guard:
    storable(key, "idempotency key")
    return Guard(kind=GuardKind.KEY, name=_joined(operation, target, key), fingerprint=fingerprint)


def activation_slot(*, strategy: str, definition_id: str = "", correlation_id: str = "") -> Guard:
    return Guard(kind=GuardKind.SLOT, name=_joined(strategy, definition_id, correlation_id))
