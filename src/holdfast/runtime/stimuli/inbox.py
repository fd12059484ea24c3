"""The inbox: stimuli that arrived before a bookmark waits for them (rules H7, H12 and H16).

Both sides write, commit, and then look: a stimulus is committed to the inbox first, and then a bookmark is searched again; a
burst commits its bookmarks, and then the inbox is searched (`bookmarks_added`). If a node dies in between, the sweep of another
node delivers the stimulus. A node that takes no work writes a work row (`bell`) beside the stimulus: the node that claims it
looks.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import Any

from msgspec.structs import replace

from holdfast.errors import PayloadRefused
from holdfast.model.stored import BookmarkQuery, BookmarkRow, InstanceKey, correlation_key
from holdfast.model.work import InboxRow, WorkKind, WorkRow
from holdfast.ports import Clock, Store
from holdfast.runtime.commits import dead_letters, work_rows
from holdfast.runtime.commits.dead_letters import DeadLetters
from holdfast.runtime.commits.fitting_bookmarks import wake_keys
from holdfast.runtime.commits.spent_rows import SpentRows
from holdfast.runtime.commits.work_rows import Stimulus
from holdfast.runtime.intake import Intake
from holdfast.runtime.observability.outage_log import OutageLog
from holdfast.runtime.service import BackgroundTasks, end_tasks
from holdfast.runtime.stimuli.counted_mail import CountedMail
from holdfast.runtime.stimuli.counts import StimulusCounts
from holdfast.runtime.stimuli.dedupe import Declinations
from holdfast.runtime.stimuli.inbox_expiry import InboxExpiry
from holdfast.runtime.stimuli.mail_drain import PAGE_FIRST, TWIN, MailDrain, row_ids
from holdfast.runtime.stimuli.matching import address_key

PAGE = 100
ADDRESSED_RETENTION = timedelta(hours=24)
BROADCAST_RETENTION = timedelta(minutes=10)
SWEEP_AFTER = timedelta(seconds=5)
"""A stimulus that lies beside its bookmark for longer was left by a node that died."""
REMOVE_OLD_EVERY = timedelta(minutes=5)
"""Records past their retention are removed for one tenant at a time."""


class Inbox:
    def __init__(
        self,
        store: Store,
        clock: Clock,
        tenants: Collection[str],
        drain: MailDrain,
        counted: CountedMail,
        intake: Intake,
        expiry: InboxExpiry,
        letters: DeadLetters,
        spent: SpentRows,
        declinations: Declinations,
        counts: StimulusCounts,
        log: OutageLog,
    ) -> None:
        self._store = store
        self._clock = clock
        self._tenants = tenants
        self._drain = drain
        self._counted = counted
        self._intake = intake
        self._expiry = expiry
        self._letters = letters
        self._spent = spent
        self._declinations = declinations
        self._counts = counts
        self._log = log
        self._new_bookmarks: dict[InstanceKey, None] = {}
        self._search: asyncio.Task[None] | None = None
        self._drains = BackgroundTasks("kept stimuli could not be delivered; the sweep delivers them")
        drain.refuse = self._refuse_kept
        self._clean = deque(tenants)
        self._removed_old: datetime | None = None
        self._sweeping = asyncio.Lock()

    async def stop(self) -> None:
        if self._search is not None:
            await end_tasks([self._search])
            self._search = None
        await self._drains.stop()
        await self._drain.stop()

    # -- rows ----------------------------------------------------------------------------------------------------------

    def rows_for(self, tenant: str, found: Stimulus, due: datetime | None = None) -> tuple[InboxRow, ...]:
        """The rows that keep a stimulus."""
        now = self._clock.now()
        if found.instance_id is not None:
            expires = None
        else:
            expires = (due or now) + (BROADCAST_RETENTION if found.is_broadcast else ADDRESSED_RETENTION)
        address = address_key(found)
        return tuple(
            InboxRow(
                tenant=tenant,
                id=row_id,
                address=address,
                key=key,
                correlation=correlation_key(found.correlation_id),
                instance_id=found.instance_id,
                type=found.type,
                arrived=now,
                expires=expires,
                due=due,
                payload=work_rows.encoded(found),
            )
            for key, row_id in zip(wake_keys(found), row_ids(found), strict=True)
        )

    def bell(self, tenant: str, found: Stimulus, **more: Any) -> WorkRow:
        """The work row that makes another node look for the bookmark of a kept stimulus."""
        address = replace(found, input=None, principal=None, trace=None)
        row = work_rows.stimulus(tenant, address, self._clock.now(), **more)
        return replace(row, kind=WorkKind.MAIL, instance_id=found.instance_id)

    # -- a stimulus was kept -------------------------------------------------------------------------------------------

    async def look(self, tenant: str, found: Stimulus) -> None:
        """The rows are committed: a bookmark that was committed meanwhile has searched before they were there."""
        if found.instance_id is not None:
            await self._drain.drain(InstanceKey(tenant, found.instance_id))
            return
        correlation = correlation_key(found.correlation_id)
        queries = [BookmarkQuery(tenant=tenant, key=key, correlation=correlation) for key in wake_keys(found)]
        for marks in (await self._store.find_bookmarks(queries)).bookmarks:
            for mark in marks:
                await self._drain.drain(InstanceKey(tenant, mark.instance_id))

    async def ring(self, row: WorkRow) -> None:
        """Another node kept a stimulus, or its delay is over; or a node in quarantine offers it (`counted_mail.py`)."""
        if self._intake.in_quarantine and self._counted.counts(row):
            await self._counted.deliver(row)
            return
        await self.look(row.tenant, work_rows.read_stimulus(row))
        await self._spent.delete(row.tenant, row.id)

    # -- bookmarks were committed --------------------------------------------------------------------------------------

    def bookmarks_added(self, marks: Sequence[BookmarkRow]) -> None:
        """These bookmarks are committed: search the inbox for stimuli that arrived before them."""
        self._new_bookmarks.update((InstanceKey(mark.tenant, mark.instance_id), None) for mark in marks)
        if self._new_bookmarks and self._search is None:
            self._search = asyncio.get_running_loop().create_task(self._search_new(), name="holdfast-inbox")
            self._search.add_done_callback(self._searched)

    def _searched(self, task: asyncio.Task[None]) -> None:
        self._search = None
        if task.cancelled():
            return
        if (error := task.exception()) is not None:
            self._log.warning("the inbox could not be read; the sweep reads it again", because=error)
        self.bookmarks_added(())  # Bookmarks may have been added after the loop of the task had ended.

    async def _search_new(self) -> None:
        while self._new_bookmarks:
            keys, self._new_bookmarks = list(self._new_bookmarks), {}
            found = await self._store.find_mail(keys, PAGE_FIRST)
            for key, mail in zip(keys, found, strict=True):
                if mail.rows:  # Not awaited: the next bookmarks do not wait for the mail of these instances.
                    self._drains.start(self._drain.drain(key))

    # -- refusal -------------------------------------------------------------------------------------------------------

    async def refuse(self, row: WorkRow, found: Stimulus, error: PayloadRefused, inbox: tuple[str, ...] = ()) -> None:
        """The payload has the wrong shape. The instance keeps waiting, and a dead letter names the problem."""
        if await self._letters.bury(row, dead_letters.REFUSED, str(error), inbox):
            self._counts.add(row.tenant, "refused", found)

    async def _refuse_kept(self, tenant: str, found: Stimulus, error: PayloadRefused) -> None:
        row = work_rows.stimulus(tenant, found, self._clock.now())
        await self.refuse(row, found, error, row_ids(found))

    # -- sweep ---------------------------------------------------------------------------------------------------------

    def removes_old(self, now: datetime) -> bool:
        """Whether the next sweep removes old records, of one tenant after the other."""
        return self._removed_old is None or now - self._removed_old >= REMOVE_OLD_EVERY

    async def sweep(self) -> int:
        """Deliver stimuli that lie beside their bookmark and remove expired ones; returns the number delivered. One sweep at a
        time: when a sweep returns, those that an earlier one removed are recorded too."""
        async with self._sweeping:
            return await self._sweep()

    async def _sweep(self) -> int:
        if self._intake.paused:
            return 0
        now = await self._store.now()
        before = self._counts.by_outcome["swept"]
        left: dict[InstanceKey, None] = {}
        for row, mark in await self._store.stranded_inbox(PAGE + len(self._declinations) + self._drain.parked_letters):
            key = InstanceKey(row.tenant, mark.instance_id)
            fresh = max(row.due or row.arrived, mark.created) + SWEEP_AFTER > now
            declined = self._declinations.has(work_rows.read_inbox_row(row), mark)
            if row.tenant in self._tenants and not fresh and not declined and not self._drain.is_parked(key):
                left[key] = None
        for key in left:
            await self._drain.drain(key, "swept")
        for row in await self._store.expire_inbox(PAGE):
            if not row.id.endswith(TWIN):
                self._counts.add(row.tenant, "expired", await self._expiry.record(row))
        if self.removes_old(now):
            self._removed_old = now
            self._clean.rotate(-1)
            await self._expiry.remove_old(self._clean[0])
        return self._counts.by_outcome["swept"] - before
