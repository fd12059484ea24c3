"""Cursors and case folding of instance lists."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from holdfast.errors import InvalidCursor
from holdfast.model.listing import InstanceSort, decode_cursor, encode_cursor, folded

TEXTS = st.text(max_size=300)


@given(st.sampled_from(list(InstanceSort)), st.none() | st.integers(-(2**62), 2**62) | st.text(max_size=50), TEXTS)
def test_a_cursor_is_its_place(sort: InstanceSort, value: int | str | None, instance_id: str) -> None:
    assert decode_cursor(encode_cursor(sort, value, instance_id), sort) == (value, instance_id)


@pytest.mark.parametrize("cursor", ["", "x", "!!!!", encode_cursor(InstanceSort.NAME, "a", "i")])
def test_a_cursor_of_another_list_is_refused_with_the_remedy(cursor: str) -> None:
    with pytest.raises(InvalidCursor, match="without a cursor"):
        decode_cursor(cursor, InstanceSort.CREATED)


def test_searches_fold_ascii_only() -> None:
    assert folded("ÄBC-Ünder[Z]") == "Äbc-Ünder[z]"
