"""The first journal segment: stored in the row of its instance where it is small and agrees with the row."""

from __future__ import annotations

from datetime import timedelta

import pytest
from msgspec.structs import replace

from holdfast.model.stored import JournalSegment
from holdfast.persistence.codec import PayloadCodec
from holdfast.persistence.sql.first_segment import FIRST_MAX, NOT_HERE, first_of, read_first
from holdfast.persistence.sql.tables import micros
from holdfast.testing.store_rows import instance

CODEC = PayloadCodec()
ROW = instance("i", tenant="acme")
SEGMENT = JournalSegment(version=1, burst_id=ROW.burst_id, count=2, written=ROW.updated, data=b"entries")


def test_a_small_segment_survives_in_the_row() -> None:
    count, data = first_of(ROW, SEGMENT, CODEC)

    assert count == 2
    assert read_first("acme", [(ROW.burst_id, count, micros(ROW.updated), data)], CODEC) == [SEGMENT]


def test_no_segment_is_an_empty_one() -> None:
    count, data = first_of(ROW, None, CODEC)

    assert (count, CODEC.decode(data or b"", "instance.first_data|acme")) == (0, b"")


@pytest.mark.parametrize(
    "other",
    [
        replace(SEGMENT, data=b"x" * (FIRST_MAX + 1)),
        replace(SEGMENT, burst_id="another"),
        replace(SEGMENT, written=SEGMENT.written + timedelta(seconds=1)),
    ],
)
def test_a_large_or_different_segment_is_a_row_of_its_own(other: JournalSegment) -> None:
    assert first_of(ROW, other, CODEC) == NOT_HERE
