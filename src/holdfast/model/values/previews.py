"""Previews of values for the journal: small values as they are, others as type, size and hash."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

import msgspec

from holdfast.errors import ValueRefused
from holdfast.model.values.encoder import TAG, encode
from holdfast.model.values.registry import TypeRegistry, default_name

__all__ = ["preview"]

_HASH_LENGTH = 16


def preview(value: Any, limit_bytes: int = 1024, types: TypeRegistry | None = None) -> Any:
    """Plain JSON that shares nothing with the value: its encoding if that is at most `limit_bytes` long, else
    `{"$t": "omitted", "type": …, "size": …, "hash": …}`. Do not encode the result again."""
    cls = value.__class__
    if (
        value is None
        or cls is bool
        or cls is float
        or (cls is str and value.isascii() and len(value) + 2 <= limit_bytes)
    ):
        return encode(value)
    try:
        encoded = encode(value, types)
    except ValueRefused:
        return _omitted(cls, None, None)
    text = msgspec.json.encode(encoded)
    if len(text) <= limit_bytes:
        return encoded
    return _omitted(cls, len(text), sha256(text).hexdigest()[:_HASH_LENGTH])


def _omitted(cls: type, size: int | None, content_hash: str | None) -> dict[str, Any]:
    return {TAG: "omitted", "type": default_name(cls), "size": size, "hash": content_hash}
