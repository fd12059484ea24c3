"""Stimuli that were kept for an instance until it ended: its journal records them as unread (rule H12).

Keeping a stimulus for an instance adds a work row that checks the instance, ever more rarely. The node that kept the stimulus
checks at once when the instance ends there.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from holdfast.errors import InstanceNotFound
from holdfast.execution.live import LiveInstance
from holdfast.model.instance import JournalEvent, Status
from holdfast.model.stored import InstanceKey
from holdfast.model.work import WorkKind, WorkRow, queue_of
from holdfast.ports import Clock, Store, WorkTables
from holdfast.runtime.commits import work_rows
from holdfast.runtime.commits.instance_cache import InstanceCache
from holdfast.runtime.commits.jobs.base import Job
from holdfast.runtime.commits.lanes import Lanes
from holdfast.runtime.commits.spent_rows import SpentRows

CHECK_AFTER = timedelta(minutes=1)
CHECK_PAUSE_MAX = timedelta(hours=6)
_ENDED = (Status.FINISHED, Status.CANCELED)


class UnreadJob(Job):
    """Journals the stimuli that an ended instance did not read."""

    __slots__ = ("consumes_inbox", "names")

    runs_queue = False

    def __init__(self, key: InstanceKey, names: list[str], inbox: tuple[str, ...], consumes_work: str) -> None:
        super().__init__(key, consumes_work=consumes_work)
        self.names = names
        self.consumes_inbox = inbox

    def apply(self, live: LiveInstance) -> bool:
        for name in self.names:
            live.note(JournalEvent.UNREAD, None, {"name": name})
        return True


def check_row(key: InstanceKey, now: datetime) -> WorkRow:
    """The work row that checks an instance: one per instance, however many stimuli are kept for it."""
    return WorkRow(
        tenant=key.tenant,
        id=f"{key.id}.unread",
        kind=WorkKind.UNREAD,
        queue=queue_of(key.tenant),
        instance_id=key.id,
        due=now + CHECK_AFTER,
        created=now,
    )


class UnreadStimuli:
    def __init__(self, store: Store, cache: InstanceCache, clock: Clock, lanes: Lanes, spent: SpentRows) -> None:
        self._store = store
        self._cache = cache
        self._clock = clock
        self._lanes = lanes
        self._spent = spent

    async def check(self, row: WorkRow) -> int:
        """Journal unread stimuli if the instance has ended, otherwise check again later; returns their number."""
        assert row.instance_id is not None
        key = InstanceKey(row.tenant, row.instance_id)
        try:
            stored = await self._cache.row(key)
        except InstanceNotFound:
            if await self._is_starting(key):
                await self._check_later(row)
            else:
                self._spent.delete(row.tenant, row.id)
            return 0
        kept = await self._store.inbox_of(key.tenant, key.id)
        if not kept:
            await self._spent.delete(row.tenant, row.id)
            await self._look_again(key)
            return 0
        if stored.status not in _ENDED:
            await self._check_later(row)
            return 0
        found = {item.id: work_rows.read_inbox_row(item) for item in kept}
        names = list({stimulus.id: stimulus.event_name or stimulus.type for stimulus in found.values()}.values())
        answer = await self._lanes.ask(UnreadJob(key, names, tuple(found), row.id))
        await self._look_again(key)
        return 0 if answer.result is None else len(names)

    async def _look_again(self, key: InstanceKey) -> None:
        """A stimulus that was kept before the row was deleted found the row and added none: add it again (rule H7)."""
        if await self._store.inbox_of(key.tenant, key.id):
            await self._store.enqueue([check_row(key, self._clock.now())])

    async def _check_later(self, row: WorkRow) -> None:
        now = self._clock.now()
        await self._store.defer([row], now + min(max(now - row.created, CHECK_AFTER), CHECK_PAUSE_MAX))

    async def _is_starting(self, key: InstanceKey) -> bool:
        """Whether its start is committed, and no node has started it yet."""
        store = self._store
        return (
            isinstance(store, WorkTables) and await store.find_work(key.tenant, work_rows.start_id(key.id)) is not None
        )
