"""The memory store, composed of its parts."""

from __future__ import annotations

from holdfast.model.upkeep import MigrationReport
from holdfast.persistence.memory.definitions import MemoryDefinitions
from holdfast.persistence.memory.effects import MemoryEffects
from holdfast.persistence.memory.inbox_outbox import MemoryInboxOutbox
from holdfast.persistence.memory.nodes import MemoryNodes
from holdfast.persistence.memory.pulse import MemoryPulse
from holdfast.persistence.memory.reads import MemoryReads
from holdfast.persistence.memory.records import MemoryRecords
from holdfast.persistence.memory.search import MemorySearch
from holdfast.persistence.memory.upkeep import MemoryUpkeep
from holdfast.persistence.memory.work import MemoryWork
from holdfast.persistence.retry import DEFAULT_TRANSIENT
from holdfast.ports import TransientErrors


class MemoryStore(
    MemoryDefinitions,
    MemoryWork,
    MemoryReads,
    MemoryEffects,
    MemoryInboxOutbox,
    MemoryNodes,
    MemoryPulse,
    MemorySearch,
    MemoryUpkeep,
    MemoryRecords,
):
    """Its data is lost when the process ends. `MemoryStore(now=…)` uses the clock of a test."""

    name = "memory"
    transient: TransientErrors = DEFAULT_TRANSIENT

    async def open(self, *, migrate: bool = True) -> None:
        """There is no connection."""

    async def close(self) -> None:
        """Does nothing: the data stays readable for the assertions of a test."""

    async def migrate(self, *, check: bool = False) -> MigrationReport:
        return MigrationReport(schema=0)
