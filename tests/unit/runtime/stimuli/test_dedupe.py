"""Stimuli that this node has matched: callers wait for them, and old ones are forgotten."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

import pytest
from msgspec.structs import replace

from holdfast.model.stored import BookmarkRow
from holdfast.runtime.commits.work_rows import Stimulus
from holdfast.runtime.stimuli import dedupe
from holdfast.runtime.stimuli.dedupe import Declinations, Settled


async def test_a_wait_ends_when_the_stimulus_is_matched() -> None:
    settled = Settled()
    waiting = [asyncio.create_task(settled.wait("acme", "s")) for _ in range(2)]
    await asyncio.sleep(0)
    assert not settled.has("acme", "s")

    settled.add("acme", "s")
    await asyncio.gather(*waiting)
    await settled.wait("acme", "s")
    assert settled.has("acme", "s")
    assert not settled.has("globex", "s")


def test_the_oldest_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dedupe, "SETTLED_MAX", 2)
    settled = Settled()
    for name in "abc":
        settled.add("acme", name)

    assert [settled.has("acme", name) for name in "abc"] == [False, True, True]


def test_a_declination_counts_for_its_tenant_stimulus_and_bookmark() -> None:
    declinations = Declinations()
    mark = BookmarkRow("i", 1, 7, "Event", datetime(2026, 1, 1, tzinfo=UTC), tenant="acme")
    found = Stimulus(id="s", type="Event", event_name="go", payload=None, input=None)

    assert declinations.add(found, mark) == ("i", 1)

    assert declinations.has(found, mark)
    assert not declinations.has(found, replace(mark, tenant="globex"))
    assert not declinations.has(found, replace(mark, seq=2))
    assert not declinations.has(replace(found, id="other"), mark)


def test_the_oldest_declination_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dedupe, "DECLINED_MAX", 2)
    declinations = Declinations()
    found = Stimulus(id="s", type="Event", event_name="go", payload=None, input=None)
    marks = [BookmarkRow("i", seq, 7, "Event", datetime(2026, 1, 1, tzinfo=UTC)) for seq in (1, 2, 3)]
    for mark in marks:
        declinations.add(found, mark)

    assert len(declinations) == 2
    assert [declinations.has(found, mark) for mark in marks] == [False, True, True]
