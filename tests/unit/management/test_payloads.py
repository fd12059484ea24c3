"""Payloads of stored rows for people and tools."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

import pytest

from holdfast.errors import HoldfastError
from holdfast.management.payloads import read_payload
from holdfast.model.values import TypeRegistry
from holdfast.runtime.payload_codec import encode_payload


@pytest.mark.parametrize("value", ["text", 3, {"a": [1, None]}, datetime(2026, 1, 2, tzinfo=UTC)])
def test_a_payload_is_read_as_it_was_written(value: object) -> None:
    assert read_payload(encode_payload(value, TypeRegistry())) == value


def test_an_empty_payload_is_none() -> None:
    assert read_payload(b"") is None


def test_a_value_of_an_unknown_class_is_refused() -> None:
    @dataclass
    class Order:
        number: int

    types = TypeRegistry()
    types.register(Order)
    with pytest.raises(HoldfastError):
        read_payload(encode_payload(Order(3), types))
