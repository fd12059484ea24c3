"""Reads of stored instances: the stored row counts, and a live instance is a copy."""

from __future__ import annotations

import pytest

from holdfast import Workflow
from holdfast.activities import Event, Sequence, SetVariable
from holdfast.errors import DefinitionError, InstanceNotFound
from holdfast.model.stored import InstanceKey
from holdfast.testing.store_rows import instance
from tests.support.commit_pipeline import KEY, commit_pipeline

PAID = Workflow(Sequence(SetVariable("text", "long text " * 500), Event("paid")), id="w", variables={"text": ""})


async def test_a_row_comes_from_the_store_and_not_from_the_cache() -> None:
    pipeline = await commit_pipeline()
    await pipeline.start(PAID)
    pipeline.cache.keep(KEY, instance("i", 9))

    assert (await pipeline.reader.row(KEY)).version == 1


async def test_a_live_instance_is_complete_and_a_copy() -> None:
    pipeline = await commit_pipeline()
    await pipeline.start(PAID)
    row, live = await pipeline.reader.live(KEY)
    live.bookmarks.clear()

    assert (row.version, live.id) == (1, "i")
    result = await pipeline.reader.result(KEY)
    assert [mark.name for mark in result.bookmarks] == ["Event"]
    assert result.variables["text"].startswith("long text")


async def test_an_unknown_instance_is_not_found() -> None:
    pipeline = await commit_pipeline()

    for read in (pipeline.reader.row, pipeline.reader.live, pipeline.reader.result):
        with pytest.raises(InstanceNotFound):
            await read(InstanceKey("", "gone"))


async def test_content_that_is_not_stored_is_named() -> None:
    pipeline = await commit_pipeline()

    with pytest.raises(DefinitionError, match="c0ffee"):
        await pipeline.reader.plan("", "c0ffee")
