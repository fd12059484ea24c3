"""Payloads as a store keeps them: MessagePack of JSON-able data; the codec of the store wraps it."""

from __future__ import annotations

from typing import Any

import msgspec

from holdfast.model import values
from holdfast.model.values import TypeRegistry

_pack = msgspec.msgpack.Encoder().encode
_unpack = msgspec.msgpack.Decoder().decode


def encode_payload(payload: Any, types: TypeRegistry | None = None) -> bytes:
    return _pack(values.encode(payload, types))


def decode_payload(data: bytes, types: TypeRegistry) -> Any:
    return values.decode(_unpack(data), types) if data else None
