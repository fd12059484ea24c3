"""Cursors and case folding of instance lists."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, strategies as st

from holdfast.errors import InvalidCursor
from holdfast.model.listing import TIMES, InstanceSort, decode_cursor, encode_cursor, folded

TEXTS = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=300)


@given(st.sampled_from(sorted(TIMES)), st.none() | st.integers(-(2**63), 2**63 - 1), TEXTS)
def test_a_cursor_by_time_is_its_place(sort: InstanceSort, value: int | None, instance_id: str) -> None:
    assert decode_cursor(encode_cursor(sort, value, instance_id), sort) == (value, instance_id)


@given(st.sampled_from([InstanceSort.NAME, InstanceSort.ID]), st.none() | TEXTS, TEXTS)
def test_a_cursor_by_text_is_its_place(sort: InstanceSort, value: str | None, instance_id: str) -> None:
    assert decode_cursor(encode_cursor(sort, value, instance_id), sort) == (value, instance_id)


@pytest.mark.parametrize(
    ("sort", "value", "instance_id"),
    [
        (InstanceSort.CREATED, 2**63, "i"),
        (InstanceSort.CREATED, 2**64 - 1, "i"),
        (InstanceSort.CREATED, True, "i"),
        (InstanceSort.CREATED, "now", "i"),
        (InstanceSort.FINISHED, 1.5, "i"),
        (InstanceSort.NAME, 1, "i"),
        (InstanceSort.NAME, "a\0", "i"),
        (InstanceSort.ID, None, "i\0"),
    ],
)
def test_a_cursor_that_no_column_can_hold_is_refused(sort: InstanceSort, value: Any, instance_id: str) -> None:
    with pytest.raises(InvalidCursor):
        decode_cursor(encode_cursor(sort, value, instance_id), sort)


@pytest.mark.parametrize("cursor", ["", "x", "!!!!", encode_cursor(InstanceSort.NAME, "a", "i")])
def test_a_cursor_of_another_list_is_refused_with_the_remedy(cursor: str) -> None:
    with pytest.raises(InvalidCursor, match="without a cursor"):
        decode_cursor(cursor, InstanceSort.CREATED)


def test_searches_fold_ascii_only() -> None:
    assert folded("ÄBC-Ünder[Z]") == "Äbc-Ünder[z]"
