"""Snapshots: the state of every commit, to inspect or fork an instance at an earlier version (`history = snapshots`, rule M19).

Off by default: each commit writes the whole state again, large values included.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, msgpack
from msgspec.structs import replace

from holdfast.model.commit import Commit
from holdfast.model.record_rows import RecordRow
from holdfast.model.upkeep import SNAPSHOT
from holdfast.runtime.commits.large_values import all_refs


class Snapshot(Struct, frozen=True, kw_only=True):
    """An instance as one commit left it."""

    content: str
    state: bytes
    values: Mapping[str, bytes]


decode_snapshot = msgpack.Decoder(Snapshot).decode


def with_snapshot(commit: Commit, before: Mapping[str, bytes]) -> Commit:
    """The commit with a snapshot record. `before` are the large values of the previous state."""
    row = commit.instance
    if row is None:
        return commit
    known = {**before, **{value.ref: value.data for value in commit.values_added}}
    kept = Snapshot(
        content=row.content, state=row.state, values={ref: known[ref] for ref in all_refs(row.state, known)}
    )
    record = RecordRow(
        tenant=row.tenant,
        kind=SNAPSHOT,
        id=snapshot_id(row.id, row.version),
        instance_id=row.id,
        state=row.status,
        created=row.updated,
        updated=row.updated,
        payload=msgpack.encode(kept),
    )
    return replace(commit, records=(*commit.records, record))


def snapshot_id(instance_id: str, version: int) -> str:
    return f"{instance_id}@{version:08}"
