"""Stimuli that this node has matched: callers wait for them, and old ones are forgotten."""

from __future__ import annotations

import asyncio

import pytest

from holdfast.runtime.stimuli import dedupe
from holdfast.runtime.stimuli.dedupe import Settled


async def test_a_wait_ends_when_the_stimulus_is_matched() -> None:
    settled = Settled()
    waiting = [asyncio.create_task(settled.wait("s")) for _ in range(2)]
    await asyncio.sleep(0)
    assert "s" not in settled

    settled.add("s")
    await asyncio.gather(*waiting)
    await settled.wait("s")
    assert "s" in settled


def test_the_oldest_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dedupe, "SETTLED_MAX", 2)
    settled = Settled()
    for name in "abc":
        settled.add(name)

    assert [name in settled for name in "abc"] == [False, True, True]
