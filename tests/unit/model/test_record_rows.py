"""Cursors of record lists."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from holdfast.errors import InvalidCursor
from holdfast.model.record_rows import RecordRow, read_cursor


@pytest.mark.parametrize("created", [datetime(2030, 1, 1, 0, 0, 0, 7, tzinfo=UTC), datetime(1969, 1, 1, tzinfo=UTC)])
@pytest.mark.parametrize("name", ["task-1", "", "with:colon"])
def test_a_cursor_is_the_position_of_its_row(created: datetime, name: str) -> None:
    row = RecordRow(kind="task", id=name, created=created, updated=created)

    assert read_cursor(row.cursor) == (created, name)


@pytest.mark.parametrize("cursor", ["", "x:task", f"{10**30}:task"])
def test_a_text_that_is_no_cursor_is_refused(cursor: str) -> None:
    with pytest.raises(InvalidCursor):
        read_cursor(cursor)
