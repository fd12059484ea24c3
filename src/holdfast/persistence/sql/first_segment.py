"""First journal segment, stored in the row of its instance: an instance that ends in one burst is one row.

The segment has the burst and the time of its row. When the row changes, they are kept in `first_burst` and `first_written`.
Later segments are rows of hf_journal. So is a first segment that is large, because every update copies the instance's row,
or whose burst or time differs from its row. `first_entries` is null then.
"""

from __future__ import annotations

from holdfast.model.stored import InstanceRow, JournalSegment
from holdfast.persistence.sql.instance_tables import INSTANCE
from holdfast.persistence.sql.script import Rows
from holdfast.persistence.sql.tables import moment
from holdfast.ports import Codec

FIRST_MAX = 1024
"""Largest segment that is stored in the row of its instance, in bytes."""

NOT_HERE: tuple[int | None, bytes | None] = (None, None)

NEW_COLUMNS = INSTANCE.columns + ", first_entries, first_data"
"""The columns that version 1 writes."""
INSERT_NEW = f"insert into hf_instance ({NEW_COLUMNS}) values ({', '.join('?' * len(NEW_COLUMNS.split(', ')))})"  # noqa: S608
FIRST_SEGMENT = """select coalesce(first_burst, burst_id), first_entries, coalesce(first_written, updated), first_data
    from hf_instance where tenant = ? and id = ? and first_entries is not null"""


def first_of(row: InstanceRow, segment: JournalSegment | None, codec: Codec) -> tuple[int | None, bytes | None]:
    """Count and data for the row of a new instance, or `NOT_HERE`. `None` is an empty segment."""
    where = "instance.first_data|" + row.tenant
    if segment is None:
        return 0, codec.encode(b"", where)
    if (
        segment.first
        or len(segment.data) > FIRST_MAX
        or segment.burst_id != row.burst_id
        or segment.written != row.updated
    ):
        return NOT_HERE
    return segment.count, codec.encode(segment.data, where)


def keep_first(old: str = "") -> str:
    """Assignments for an UPDATE, before other columns: MySQL would read the new values of columns that were set before.
    `old` is the alias of the row."""
    return ", ".join(
        f"{kept} = case when {old}first_entries is null then null else coalesce({old}{kept}, {old}{column}) end"
        for kept, column in (("first_burst", "burst_id"), ("first_written", "updated"))
    )


def read_first(tenant: str, found: Rows, codec: Codec) -> list[JournalSegment]:
    """Decode the rows of `FIRST_SEGMENT`."""
    return [
        JournalSegment(
            version=1, burst_id=burst_id, count=entries, written=moment(written),
            data=codec.decode(data, "instance.first_data|" + tenant),
        )
        for burst_id, entries, written, data in found
    ]  # fmt: skip
