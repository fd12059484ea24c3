"""Retention: ended instances are deleted in small batches, after they were written to an optional archive of JSON lines.

An archive is flushed to disk before its instances are deleted. A crash in between leaves an instance in both places,
never in none. An archive is only ever appended to. A name that ends with `.gz` compresses it.
"""

from __future__ import annotations

import asyncio
import gzip
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from holdfast.errors import DeletionRefused
from holdfast.model.upkeep import EXPORT_FORMAT, InstanceExport, RetentionRule
from holdfast.ports import UpkeepStore

BATCH = 100
"""Instances per transaction. Small, so that a sweep does not delay commits."""


class RetentionReport(Struct, frozen=True, kw_only=True):
    """The result of `retire`: how many instances it deleted, archived and kept."""

    deleted: int = 0
    archived: int = 0
    kept: int = 0
    """Instances that were resumed, or got a live child, during the sweep."""


class ArchiveFile:
    """Exports as JSON lines, one instance per line."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def append(self, exports: Sequence[InstanceExport]) -> None:
        """Append exports. They are durable when it returns."""
        lines = b"".join(msgspec.json.encode(export) + b"\n" for export in exports)
        if self.path.suffix == ".gz":
            lines = gzip.compress(lines, 6)
        with self.path.open("ab") as file:
            file.write(lines)
            file.flush()
            os.fsync(file.fileno())

    def read(self) -> Iterator[InstanceExport]:
        """Read all exports in the order in which they were archived."""
        decoder = msgspec.json.Decoder(InstanceExport)
        with gzip.open(self.path) if self.path.suffix == ".gz" else self.path.open("rb") as file:
            for number, line in enumerate(file, 1):
                export = decoder.decode(line)
                if export.format != EXPORT_FORMAT:
                    raise ValueError(f"{self.path}, line {number}: '{export.format}' is not {EXPORT_FORMAT}")
                yield export


async def retire(
    store: UpkeepStore,
    tenant: str,
    rule: RetentionRule,
    *,
    archive: ArchiveFile | None = None,
    batch: int = BATCH,
    limit: int = 10_000,
) -> RetentionReport:
    """Archive and delete instances that the rule matches, at most `limit`."""
    deleted = archived = kept = 0
    while deleted + kept < limit:
        ids = await store.find_expired(tenant, rule, min(batch, limit - deleted - kept))
        if not ids:
            break
        if archive is not None:
            archived += await _archive(store, archive, tenant, ids)
        gone = await _delete(store, tenant, ids)
        deleted += gone
        kept += len(ids) - gone
        if not gone:
            break
    return RetentionReport(deleted=deleted, archived=archived, kept=kept)


async def _archive(store: UpkeepStore, archive: ArchiveFile, tenant: str, ids: Sequence[str]) -> int:
    found = [await store.export_instance(tenant, instance_id) for instance_id in ids]
    exports = [export for export in found if export is not None]
    await asyncio.to_thread(archive.append, exports)
    return len(exports)


async def _delete(store: UpkeepStore, tenant: str, ids: Sequence[str]) -> int:
    """Delete all in one transaction. If the store refuses one of them, delete each by itself."""
    try:
        return await store.delete_instances(tenant, ids)
    except DeletionRefused:
        if len(ids) == 1:
            return 0
    return sum([await _delete(store, tenant, [instance_id]) for instance_id in ids])
