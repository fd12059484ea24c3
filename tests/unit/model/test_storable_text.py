from __future__ import annotations

import pytest

from holdfast.errors import UnstorableText
from holdfast.model.guard import idempotency_key
from holdfast.model.storable_text import is_storable, storable


@pytest.mark.parametrize("text", ["", "order-4711", "Grüße", "🙂", "a\nb\tc\x01"])
def test_what_columns_keep(text: str) -> None:
    assert is_storable(text)
    assert storable(text, "name") == text


@pytest.mark.parametrize(
    ("text", "told"), [("a\0b", "NUL"), ("a\ud800b", "half a character"), ("\udcff" * 100, "half")]
)
def test_what_no_column_keeps(text: str, told: str) -> None:
    assert not is_storable(text)
    with pytest.raises(UnstorableText, match=told) as caught:
        storable(text, "correlation id")
    assert "correlation id" in str(caught.value)
    str(caught.value).encode()
    with pytest.raises(UnstorableText):
        idempotency_key(operation="start", target="x", key=text)


def test_nothing_is_no_text() -> None:
    assert storable(None, "name") is None
