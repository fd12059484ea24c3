"""Values that are no Unicode: file names that are no UTF-8 bring half characters along (`os.fsdecode`)."""

from __future__ import annotations

from pathlib import Path

from holdfast import activity, workflow
from holdfast.engine import Holdfast


@activity
async def rename(name: str) -> str:
    if name.endswith("!"):
        raise OSError(f"no such file: {name}")
    return name


@workflow
async def renaming(name: str) -> str:
    return await rename(name)


async def test_half_a_character_is_kept_in_values_and_written_out_in_messages(tmp_path: Path) -> None:
    async with Holdfast(store=f"sqlite:///{tmp_path}/half.db", entry_points=False, workflows=[renaming]) as app:
        kept = await app.runtime.start(renaming, {"name": "a\udcff"}, instance_id="kept")
        failed = await app.runtime.start(renaming, {"name": "a\udcff!"}, instance_id="failed")
        assert kept.result is not None
        assert failed.result is not None
        await app.runtime.settled("kept")
        await app.runtime.settled("failed")
        done, fault = await app.runtime.read("kept"), await app.runtime.read("failed")
        journal = await app.runtime.journal("kept")

    assert done.outputs == {"result": "a\udcff"}
    assert [item.message for item in fault.incidents] == ["no such file: a\\udcff!"]
    assert any(entry.data for entry in journal)
