"""Statistics of instances come from hf_tally."""

from __future__ import annotations

from pathlib import Path

from holdfast.model.listing import HOURS_KEPT, InstanceFilter
from holdfast.persistence.sql.sqlite import SqliteStore
from holdfast.testing.store_rows import commit_of, instance, later


async def test_statuses_and_live_contents_of_all_tenants(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "tally.db")
    await store.open()
    await store.commit(
        [
            commit_of(instance("a", status="running", content="c1")),
            commit_of(instance("b", status="finished", content="c1", finished=later(1))),
            commit_of(instance("c", tenant="acme", status="suspended", content="c2")),
        ]
    )

    assert (await store.stats()).instances == {"running": 1, "finished": 1, "suspended": 1}
    assert (await store.stats("acme")).instances == {"suspended": 1}
    assert await store.live_contents() == {("", "c1"): 1, ("acme", "c2"): 1}
    assert "hf_tally" in next(store._live_contents()).sql
    await store.close()


async def test_retention_deletes_counters_that_are_not_needed(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "tally.db")
    await store.open()
    recent = await store.now()
    await store.commit(
        [
            commit_of(
                instance("old", status="finished", created=recent - HOURS_KEPT * 2, finished=recent - HOURS_KEPT * 2)
            ),
            commit_of(instance("new", status="running", created=recent)),
        ]
    )
    assert len(await store.count_by_hour("", recent - HOURS_KEPT * 3)) == 3

    await store.delete_instances("", ["old"])

    assert [row.event for row in await store.count_by_hour("", recent - HOURS_KEPT * 3)] == ["started"]
    assert await store.count_by_status("", InstanceFilter()) == {"running": 1}
    await store.close()
