"""The state of every commit, for those who want to look back or fork from a moment (rule M19): `history = snapshots`.

Off by default: it writes the whole state with each commit, large values included.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING

from msgspec import Struct, msgpack
from msgspec.structs import replace

from holdfast.errors import StateNotKept
from holdfast.model.commit import Commit
from holdfast.model.record_rows import RecordQuery, RecordRow
from holdfast.model.upkeep import SNAPSHOT
from holdfast.runtime.commits.large_values import refers_to

if TYPE_CHECKING:
    from holdfast.runtime.cluster.node import Node


class Kept(Struct, frozen=True, kw_only=True):
    """An instance as one commit left it."""

    content: str
    state: bytes
    values: Mapping[str, bytes]


class Moment(Struct, frozen=True, kw_only=True):
    version: int
    at: datetime
    status: str


_unpack = msgpack.Decoder(Kept).decode


def with_snapshot(commit: Commit, before: Mapping[str, bytes]) -> Commit:
    """The commit with a record of its state. `before` are the large values that the state had already."""
    row = commit.instance
    if row is None:
        return commit
    known = {**before, **{value.ref: value.data for value in commit.values_added}}
    kept = Kept(content=row.content, state=row.state, values={ref: known[ref] for ref in refers_to(row.state)})
    record = RecordRow(
        tenant=row.tenant,
        kind=SNAPSHOT,
        id=_id(row.id, row.version),
        instance_id=row.id,
        state=row.status,
        created=row.updated,
        updated=row.updated,
        payload=msgpack.encode(kept),
    )
    return replace(commit, records=(*commit.records, record))


def _id(instance_id: str, version: int) -> str:
    return f"{instance_id}@{version:08}"


async def moments(node: Node, instance_id: str) -> list[Moment]:
    """Versions whose state is kept, oldest first."""
    found: list[Moment] = []
    query = RecordQuery(tenant=node.tenant, kind=SNAPSHOT, instance_id=instance_id, limit=500)
    while page := await node.store.list_records(query):
        found += [Moment(version=int(row.id.rpartition("@")[2]), at=row.created, status=row.state) for row in page]
        query = replace(query, after=page[-1].cursor)
    return sorted(found, key=lambda moment: moment.version)


async def state_at(node: Node, instance_id: str, version: int) -> Kept:
    row = await node.store.get_record(node.tenant, SNAPSHOT, _id(instance_id, version))
    if row is None:
        raise StateNotKept(instance_id, version)
    return _unpack(row.payload)
