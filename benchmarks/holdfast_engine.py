"""Holdfast as the benchmarks run it: default settings, real `$python`, the default journal, no telemetry listener."""

from __future__ import annotations

import time
from collections.abc import Callable

from holdfast import Holdfast, Status, Workflow, telemetry
from holdfast.execution import delivery
from holdfast.execution.live import LiveInstance
from holdfast.execution.segment import Ended, Limits, run_segment

LIMITS = Limits()
"""Default limits: a segment is cut after 5 ms or 5,000 activities, and continues."""


def engine() -> Holdfast:
    assert not telemetry.listeners, "Telemetry is on; the figures are for an engine without listeners."
    return Holdfast(entry_points=False)


def bursts(holdfast: Holdfast, workflow: Workflow) -> Callable[[], LiveInstance]:
    """Runs a new instance to its end, without a store and without an event loop."""
    plan = holdfast.plan(workflow)
    services, now = holdfast.services, time.time_ns

    def burst() -> LiveInstance:
        live = delivery.start(plan, id="bench", now=now, services=services, inputs={})
        while run_segment(live, LIMITS) is not Ended.IDLE:
            pass
        return live

    assert burst().status is Status.FINISHED
    return burst
