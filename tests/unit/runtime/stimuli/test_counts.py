"""Counts of outcomes of stimuli, and the event of each outcome."""

from __future__ import annotations

from typing import Any

from holdfast import telemetry
from holdfast.runtime.commits.work_rows import Stimulus
from holdfast.runtime.stimuli.counts import StimulusCounts

FOUND = Stimulus(id="s1", type="Event", event_name="go")


def test_outcomes_are_counted() -> None:
    counts = StimulusCounts()
    for outcome in ("delivered", "kept", "delivered"):
        counts.add("acme", outcome, FOUND)

    assert dict(counts.by_outcome) == {"delivered": 2, "kept": 1}


def test_each_outcome_is_an_event() -> None:
    emitted: list[tuple[str, dict[str, Any]]] = []

    with telemetry.on(lambda name, fields: emitted.append((name, dict(fields))), "stimulus.settled"):
        StimulusCounts().add("acme", "expired", FOUND)

    fields = {"tenant": "acme", "stimulus_id": "s1", "type": "Event", "name": "go", "outcome": "expired"}
    assert emitted == [("stimulus.settled", fields)]
