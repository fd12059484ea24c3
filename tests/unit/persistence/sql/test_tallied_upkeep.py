"""Statistics of instances come from hf_tally."""

from __future__ import annotations

from pathlib import Path

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
