"""Intake: a node is careful for a minute after a crash in the cluster, and each crash starts the minute again."""

from __future__ import annotations

import time

import pytest

from holdfast.runtime.intake import QUARANTINE_TIME, Intake


def test_a_new_node_takes_work_without_care() -> None:
    intake = Intake()

    assert (intake.paused, intake.in_quarantine) == (False, False)


def test_the_care_after_a_crash_ends_and_another_crash_prolongs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1_000.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    intake = Intake()
    intake.start_quarantine()
    assert intake.in_quarantine

    now[0] += QUARANTINE_TIME.total_seconds() - 1
    intake.start_quarantine()
    now[0] += QUARANTINE_TIME.total_seconds() - 1
    assert intake.in_quarantine

    now[0] += 1
    assert not intake.in_quarantine
