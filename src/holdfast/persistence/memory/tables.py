"""Tables of the memory store, and the base class of its parts: tables, clock and change notification."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import TypeVar

from holdfast.model.catalog import DefinitionContent, DefinitionVersion, TriggerRow
from holdfast.model.changes import NO_TOPIC, Change
from holdfast.model.cluster import NodeRow
from holdfast.model.guard import GuardKind, GuardRow
from holdfast.model.record_rows import RecordRow
from holdfast.model.stored import (
    BookmarkRef,
    BookmarkRow,
    IncidentRow,
    InstanceKey,
    InstanceRow,
    JournalSegment,
    ValueRow,
)
from holdfast.model.work import DeadLetterRow, EffectRow, InboxRow, OutboxRow, ScheduleRow, WorkRow
from holdfast.persistence.change_hub import ChangeHub


def system_now() -> datetime:
    return datetime.now(UTC)


class Tables:
    """Dictionaries by primary key. There is one event loop and no await between read and write, so no locks are needed."""

    def __init__(self) -> None:
        self.contents: dict[tuple[str, str], DefinitionContent] = {}
        self.versions: dict[tuple[str, str, int], DefinitionVersion] = {}
        self.deployments: dict[tuple[str, str, str], str] = {}
        self.triggers: dict[tuple[str, str, str], TriggerRow] = {}
        self.instances: dict[InstanceKey, InstanceRow] = {}
        self.journal: dict[InstanceKey, dict[int, JournalSegment]] = {}
        self.bookmarks: dict[InstanceKey, dict[BookmarkRef, BookmarkRow]] = {}
        self.sleepers: dict[tuple[str, int], dict[tuple[str, BookmarkRef], BookmarkRow]] = {}
        """The same bookmarks by (tenant, key)."""
        self.values: dict[InstanceKey, dict[str, ValueRow]] = {}
        self.incidents: dict[tuple[str, str, str], IncidentRow] = {}
        self.effects: dict[tuple[str, str, int], EffectRow] = {}
        self.guards: dict[tuple[str, GuardKind, str], GuardRow] = {}
        self.work: dict[tuple[str, str], WorkRow] = {}
        self.inbox: dict[tuple[str, str], InboxRow] = {}
        self.outbox: dict[tuple[str, str], OutboxRow] = {}
        self.outbox_held: dict[tuple[str, str], datetime] = {}
        self.schedules: dict[tuple[str, str], ScheduleRow] = {}
        self.dead_letters: dict[tuple[str, str], DeadLetterRow] = {}
        self.records: dict[tuple[str, str, str], RecordRow] = {}
        self.nodes: dict[str, NodeRow] = {}
        self.epoch = 0
        self.boots = 0


K = TypeVar("K")
R = TypeVar("R")


def added(table: dict[K, R], rows: Iterable[tuple[K, R]]) -> list[bool]:
    """Add rows whose key is not stored yet. True for each row that was added."""
    answers = []
    for key, row in rows:
        answers.append(key not in table)
        table.setdefault(key, row)
    return answers


def is_visible(row: InboxRow, now: datetime) -> bool:
    """Whether an inbox row is neither expired nor still delayed."""
    return (row.expires is None or row.expires > now) and (row.due is None or row.due <= now)


class MemoryStoreBase:
    """State that all parts of the memory store share."""

    def __init__(self, now: Callable[[], datetime] = system_now) -> None:
        self._tables = Tables()
        self._now = now
        self._claimed: set[tuple[str, str]] = set()
        self._hub = ChangeHub()

    def _changed(self, change: Change = NO_TOPIC) -> None:
        self._hub.publish(change)

    def _mail_at(self, addresses: Sequence[tuple[str, int | None]]) -> list[bool]:
        """Whether visible inbox rows have these addresses; False for None."""
        if not self._tables.inbox:
            return [False] * len(addresses)
        now = self._now()
        there = {(row.tenant, row.address) for row in self._tables.inbox.values() if is_visible(row, now)}
        return [address in there for address in addresses]

    def subscribe(self, on_change: Callable[[Change], None], *, anything: bool = False) -> Callable[[], None]:
        return self._hub.subscribe(on_change, anything=anything)

    async def wait_for_change(self, since: int, timeout: timedelta) -> int:
        return await self._hub.wait(since, timeout)
