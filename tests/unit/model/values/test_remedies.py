"""Remedies for values that cannot be stored: the most specific one for each type."""

from __future__ import annotations

import collections
import io
import types
from pathlib import Path

import pytest

from holdfast.model.values.remedies import remedy_for


class Money(int): ...


@pytest.mark.parametrize(
    ("kind", "remedy"),
    [
        (types.GeneratorType, "list(value)"),
        (type(zip()), "list(value)"),
        (io.StringIO, "path"),
        (Path, "str(value)"),
        (bytearray, "bytes(value)"),
        (collections.OrderedDict, "dict(value)"),
        (collections.deque, "list(value)"),
        (Money, "int(value)"),
        (type(len), "name"),
        (object, "identifier"),
    ],
)
def test_a_remedy_fits_its_type(kind: type, remedy: str) -> None:
    assert remedy in remedy_for(kind)
