"""Outcomes of stimuli on this node: delivered, started, refused, kept, forgotten, unread, expired, swept."""

from __future__ import annotations

from collections import Counter

from holdfast import telemetry
from holdfast.runtime.commits.work_rows import Stimulus


class StimulusCounts:
    def __init__(self) -> None:
        self.by_outcome: Counter[str] = Counter()

    def add(self, tenant: str, outcome: str, found: Stimulus) -> None:
        self.by_outcome[outcome] += 1
        if telemetry.listeners:
            telemetry.emit(
                "stimulus.settled",
                tenant=tenant,
                stimulus_id=found.id,
                type=found.type,
                name=found.event_name,
                outcome=outcome,
            )
