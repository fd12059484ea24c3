"""Payloads of stored rows, decoded for people and tools without the types of a definition."""

from __future__ import annotations

from typing import Any

from holdfast.model.values import TypeRegistry
from holdfast.runtime.payload_codec import decode_payload


def read_payload(data: bytes) -> Any:
    """The payload of a row; None if it is empty. Raises `HoldfastError` for a value of a class that this process does not
    know."""
    return decode_payload(data, TypeRegistry())
