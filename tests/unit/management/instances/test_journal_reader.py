"""Journal entries with the versions of their commits, read in bounded pages."""

from __future__ import annotations

import pytest

from holdfast import Workflow
from holdfast.activities import Event, Sequence
from holdfast.errors import DefinitionError, HoldfastError, InstanceNotFound
from holdfast.management.instances.journal_reader import JournalLimits, JournalPosition, numbered_entries
from holdfast.model.instance import JournalEntry
from holdfast.runtime.plans.plan_cache import PlanCache
from tests.support.memory_node import MemoryNode

TWO = JournalLimits(commits=2)
steps = Workflow(Sequence(Event("one"), Event("two")), id="steps")


async def started(memory: MemoryNode) -> None:
    await memory.runtime.start(steps, instance_id="order")
    for _ in range(2):
        await memory.runtime.resume("order")


async def test_pages_continue_where_the_last_one_ended(memory: MemoryNode) -> None:
    await started(memory)
    whole = await memory.runtime.journal("order")

    first, after = await numbered_entries(memory.runtime, "order", JournalPosition(), TWO)
    assert after == (2, 0)
    rest, end = await numbered_entries(memory.runtime, "order", after, TWO)

    assert end is None
    assert [entry for _, entry in (*first, *rest)] == whole
    assert (sorted({version for version, _ in first}), {version for version, _ in rest}) == ([1, 2], {3})


@pytest.mark.parametrize(
    "limits", [JournalLimits(commits=9, entries=2), JournalLimits(commits=9, bytes=1)], ids=["entries", "bytes"]
)
async def test_a_page_ends_within_a_commit(memory: MemoryNode, limits: JournalLimits) -> None:
    await started(memory)
    whole = await memory.runtime.journal("order")
    found, position = list[JournalEntry](), JournalPosition()

    for _ in whole:
        page, following = await numbered_entries(memory.runtime, "order", position, limits)
        assert 1 <= len(page) <= 2
        found += [entry for _, entry in page]
        if following is None:
            break
        position = following

    assert found == whole


async def test_an_unknown_instance_is_refused(memory: MemoryNode) -> None:
    with pytest.raises(InstanceNotFound):
        await numbered_entries(memory.runtime, "nothing", JournalPosition(), TWO)


async def test_missing_code_is_named_with_the_instance(memory: MemoryNode, monkeypatch: pytest.MonkeyPatch) -> None:
    await started(memory)

    async def missing(plans: PlanCache, content: str) -> None:
        raise DefinitionError("The code is missing.")

    monkeypatch.setattr(PlanCache, "plan", missing)

    with pytest.raises(HoldfastError, match=r"journal of order cannot be read on this node: The code is missing\."):
        await numbered_entries(memory.runtime, "order", JournalPosition(), TWO)
    monkeypatch.undo()
