"""The first segment of a journal, which lies in the row of its instance: an instance that ends in one burst is one row.

Its burst and the moment when it was written are those of the row, until the row is changed; then they are kept beside it.
Later segments are rows of hf_journal. So is a first one that is large, since every change copies the instance's row, or that
says something else than its row does; `first_entries` is null then.
"""

from __future__ import annotations

from holdfast.model.stored import InstanceRow, JournalSegment
from holdfast.persistence.sql.instance_tables import INSTANCE
from holdfast.persistence.sql.script import Rows
from holdfast.persistence.sql.tables import moment
from holdfast.ports import Codec

FIRST_MAX = 1024
"""Bytes of a segment that lies in the row."""

NOT_HERE: tuple[int | None, bytes | None] = (None, None)

NEW_COLUMNS = INSTANCE.columns + ", first_entries, first_data"
"""What version 1 writes."""
INSERT_NEW = f"insert into hf_instance ({NEW_COLUMNS}) values ({', '.join('?' * len(NEW_COLUMNS.split(', ')))})"  # noqa: S608
FIRST_SEGMENT = """select coalesce(first_burst, burst_id), first_entries, coalesce(first_written, updated), first_data
    from hf_instance where tenant = ? and id = ? and first_entries is not null"""


def first_of(row: InstanceRow, segment: JournalSegment | None, codec: Codec) -> tuple[int | None, bytes | None]:
    """Count and data for the row of a new instance, or `NOT_HERE`. None is an empty segment."""
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
    """For an UPDATE, in front of other columns (MySQL would see what they were set to). `old` names the row."""
    return ", ".join(
        f"{kept} = case when {old}first_entries is null then null else coalesce({old}{kept}, {old}{column}) end"
        for kept, column in (("first_burst", "burst_id"), ("first_written", "updated"))
    )


def read_first(tenant: str, found: Rows, codec: Codec) -> list[JournalSegment]:
    """Of what `FIRST_SEGMENT` finds."""
    return [
        JournalSegment(
            version=1, burst_id=burst_id, count=entries, written=moment(written),
            data=codec.decode(data, "instance.first_data|" + tenant),
        )
        for burst_id, entries, written, data in found
    ]  # fmt: skip
