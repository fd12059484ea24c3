"""Retention into an archive: deleted instances can be read and imported again."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from holdfast.model.stored import InstanceKey
from holdfast.model.upkeep import RetentionRule
from holdfast.persistence.archive import ArchiveFile, RetentionReport, retire
from holdfast.persistence.memory import MemoryStore
from holdfast.testing.store_rows import FAR_OFF, bookmark, commit_of, instance, later

RULE = RetentionRule(finished_before=FAR_OFF)


@pytest.fixture
async def store() -> MemoryStore:
    store = MemoryStore()
    await store.commit(
        [
            commit_of(
                instance(f"i{number}", status="finished", finished=later(number), state=bytes([number])),
                bookmarks_added=(bookmark("", f"i{number}"),),
            )
            for number in range(7)
        ]
    )
    await store.commit([commit_of(instance("lives"))])
    return store


@pytest.mark.parametrize("name", ["old.jsonl", "old.jsonl.gz"])
async def test_deleted_instances_are_archived_and_can_be_imported(
    store: MemoryStore, tmp_path: Path, name: str
) -> None:
    archive = ArchiveFile(tmp_path / name)
    before = [await store.export_instance("", f"i{number}") for number in range(7)]

    report = await retire(store, "", RULE, archive=archive, batch=3)

    assert report == RetentionReport(deleted=7, archived=7)
    assert list(archive.read()) == before
    assert len(archive.path.read_bytes().splitlines()) == 7 or name.endswith(".gz")
    for export in archive.read():
        await store.import_instance(export)
    assert [await store.export_instance("", f"i{number}") for number in range(7)] == before


async def test_a_limit_is_kept(store: MemoryStore) -> None:
    assert await retire(store, "", RULE, batch=2, limit=5) == RetentionReport(deleted=5)
    assert (await store.stats()).instances == {"finished": 2, "suspended": 1}


async def test_a_resumed_instance_is_kept(store: MemoryStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """The instance is retried between the query and the delete."""
    find = store.find_expired

    async def find_and_revive(tenant: str, rule: RetentionRule, limit: int) -> list[str]:
        ids = list(await find(tenant, rule, limit))
        row = store._tables.instances.get(InstanceKey("", "i3"))
        if row is not None:
            store._tables.instances[InstanceKey("", "i3")] = replace(row, status="running")
        return ids

    monkeypatch.setattr(store, "find_expired", find_and_revive)

    report = await retire(store, "", RULE)

    assert report == RetentionReport(deleted=6, kept=1)
    assert len(await store.versions_of([InstanceKey("", "i3")])) == 1


async def test_nothing_to_do(tmp_path: Path) -> None:
    assert await retire(MemoryStore(), "", RULE, archive=ArchiveFile(tmp_path / "a")) == RetentionReport()
    assert not (tmp_path / "a").exists()


def test_an_archive_of_another_format_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(
        b'{"format": "other", "instance": {"id": "i", "version": 1, "burst_id": "b", "status": "finished",'
    )
    with path.open("ab") as file:
        file.write(
            b'"content": "c", "definition_id": "d", "definition_version": 1, "created": "2026-01-01T00:00:00Z",'
            b'"updated": "2026-01-01T00:00:00Z"}}\n'
        )

    with pytest.raises(ValueError, match=r"line 1: 'other' is not holdfast/instance@1"):
        list(ArchiveFile(path).read())
