"""Payloads of rows: typed values survive, empty bytes are no payload."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import msgspec
import pytest

from holdfast.model.values import TypeRegistry
from holdfast.runtime.payload_codec import decode_payload, encode_payload

TYPES = TypeRegistry()


@pytest.mark.parametrize(
    "payload",
    [None, 7, "text", [1, {"a": None}], Decimal("1.20"), {"at": datetime(2031, 2, 3, 4, 5, 6, tzinfo=UTC)}],
)
def test_a_payload_comes_back_with_its_types(payload: Any) -> None:
    found = decode_payload(encode_payload(payload, TYPES), TYPES)

    assert found == payload
    assert type(found) is type(payload)


def test_empty_bytes_are_no_payload() -> None:
    assert decode_payload(b"", TYPES) is None


def test_bytes_that_are_no_payload_are_refused() -> None:
    with pytest.raises(msgspec.DecodeError):
        decode_payload(b"\xc1", TYPES)
