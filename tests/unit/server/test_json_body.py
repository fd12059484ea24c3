"""JSON under limits."""

from __future__ import annotations

import json

import pytest

from holdfast.server.json_body import JsonLimits, JsonRefused, read_json

LIMITS = JsonLimits(depth=5, values=100)


def test_json_within_the_limits() -> None:
    assert read_json(b'{"a": [1, {"b": null}]}', LIMITS) == {"a": [1, {"b": None}]}
    assert read_json(b'"' + b"[" * 50 + b'"', LIMITS) == "[" * 50


def test_nesting_is_counted() -> None:
    assert read_json(b"[" * 5 + b"]" * 5, LIMITS) == [[[[[]]]]]
    with pytest.raises(JsonRefused) as caught:
        read_json(b'[{"a":' * 3 + b"1" + b"}]" * 3, LIMITS)
    assert (caught.value.status, caught.value.code) == (400, "json.too_deep")


def test_nesting_beyond_the_stack_is_refused() -> None:
    with pytest.raises(JsonRefused) as caught:
        read_json(b"[" * 100_000, JsonLimits(depth=5, values=200_000))
    assert caught.value.code == "json.too_deep"


def test_many_values_are_refused_before_they_are_parsed() -> None:
    with pytest.raises(JsonRefused) as caught:
        read_json(b"[" + b"[]," * 100 + b"not json", LIMITS)
    assert (caught.value.status, caught.value.code) == (413, "json.too_many_values")


def test_no_json() -> None:
    with pytest.raises(json.JSONDecodeError):
        read_json(b"{", LIMITS)
