"""Telemetry events of a committed burst."""

from __future__ import annotations

from collections import Counter

from holdfast import telemetry
from holdfast.execution.journal import COMPLETED, readable
from holdfast.execution.live import LiveInstance
from holdfast.model.instance import JournalEntry, Status
from holdfast.runtime.commits.burst import Burst
from holdfast.runtime.commits.jobs.dispatch import BeginJob
from holdfast.runtime.observability.status_events import emit_status, names_of


class Entries:
    """Journal entries of a burst, decoded on demand: most listeners only count them."""

    __slots__ = ("_live",)

    def __init__(self, live: LiveInstance) -> None:
        self._live = live

    def __call__(self) -> list[JournalEntry]:
        live = self._live
        return readable(live.plan, live.journal, live.journal_base)

    def completed(self) -> Counter[str]:
        """Number of completed activities by type."""
        nodes = self._live.plan.nodes
        return Counter(
            nodes[entry[1]].definition.type for entry in self._live.journal if entry[0] == COMPLETED and entry[1] >= 0
        )


def emit_events(burst: Burst, live: LiveInstance) -> None:
    if live.status is Status.PENDING:
        return
    names = names_of(burst.key.tenant, live)
    wants = telemetry.wants
    if wants("instance.started") and (
        burst.before.version == 0 or any(isinstance(job, BeginJob) for job in burst.applied)
    ):
        telemetry.emit("instance.started", **names, definition_version=live.definition_version)
    if wants("instance.resumed"):
        for job in burst.applied:
            for bookmark_id in filter(None, job.resumes):
                telemetry.emit("instance.resumed", **names, bookmark_id=bookmark_id)
    if wants("segment.committed"):
        telemetry.emit("segment.committed", **names, activities=live.sequence)
    if wants("burst.committed"):
        telemetry.emit(
            "burst.committed",
            **names,
            trace=live.trace,
            began_ns=burst.began_ns,
            ran_ns=burst.ran_ns,
            committed_ns=live.now(),
            entries=Entries(live),
        )
    emit_status(live, names)
