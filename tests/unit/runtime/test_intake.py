"""Intake: a node is careful for a minute after a crash in the cluster, and each crash starts the minute again."""

from __future__ import annotations

import time

import pytest

from holdfast.runtime.intake import CAREFUL_FOR, Intake


def test_a_new_node_takes_work_without_care() -> None:
    intake = Intake()

    assert (intake.paused, intake.careful) == (False, False)


def test_the_care_after_a_crash_ends_and_another_crash_prolongs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1_000.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    intake = Intake()
    intake.be_careful()
    assert intake.careful

    now[0] += CAREFUL_FOR.total_seconds() - 1
    intake.be_careful()
    now[0] += CAREFUL_FOR.total_seconds() - 1
    assert intake.careful

    now[0] += 1
    assert not intake.careful
