"""The inbox: stimuli that arrived before a bookmark waits for them (rules H7 and H12).

Both sides write, commit, and then look: a stimulus is committed to the inbox first, and then a bookmark is searched again; a
burst commits its bookmarks, and then the inbox is searched (`bookmarks_added`). If a node dies in between, the sweep of another
node delivers the stimulus.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Collection, Sequence
from datetime import datetime, timedelta

from holdfast.errors import PayloadRefused
from holdfast.model.stored import BookmarkRow, correlation_key
from holdfast.model.work import InboxRow, WorkRow
from holdfast.ports import Clock, Store
from holdfast.runtime.commits import dead_letters, work_rows
from holdfast.runtime.commits.dead_letters import DeadLetters
from holdfast.runtime.commits.jobs.dispatch import Declined
from holdfast.runtime.commits.work_rows import Stimulus
from holdfast.runtime.observability.outage_log import OutageLog
from holdfast.runtime.service import end_tasks
from holdfast.runtime.stimuli import matching
from holdfast.runtime.stimuli.counts import StimulusCounts
from holdfast.runtime.stimuli.dedupe import Declinations
from holdfast.runtime.stimuli.delivery import ENDED, GONE, StimulusDelivery
from holdfast.runtime.stimuli.inbox_expiry import InboxExpiry

PAGE = 100
ADDRESSED_RETENTION = timedelta(hours=24)
BROADCAST_RETENTION = timedelta(minutes=10)
SWEEP_AFTER = timedelta(seconds=5)
"""A stimulus that lies beside its bookmark for longer was left by a node that died."""
REMOVE_OLD_EVERY = timedelta(minutes=5)
"""Records past their retention are removed for one tenant at a time."""
TWIN = "~a"
"""Suffix of the second inbox row of an event that two kinds of waits may take; both rows are consumed together."""


class Inbox:
    def __init__(
        self,
        store: Store,
        clock: Clock,
        tenants: Collection[str],
        delivery: StimulusDelivery,
        expiry: InboxExpiry,
        letters: DeadLetters,
        declinations: Declinations,
        counts: StimulusCounts,
        log: OutageLog,
    ) -> None:
        self._store = store
        self._clock = clock
        self._tenants = tenants
        self._delivery = delivery
        self._expiry = expiry
        self._letters = letters
        self._declinations = declinations
        self._counts = counts
        self._log = log
        self._new_bookmarks: list[BookmarkRow] = []
        self._in_hand: dict[tuple[str, str], list[BookmarkRow]] = {}
        """Kept stimuli that this node is delivering, by tenant and id, with the bookmarks that found them in hand."""
        self._search: asyncio.Task[None] | None = None
        self._clean = deque(tenants)
        self._removed_old: datetime | None = None

    async def stop(self) -> None:
        if self._search is not None:
            await end_tasks([self._search])
            self._search = None

    def rows_for(self, tenant: str, found: Stimulus) -> tuple[InboxRow, ...]:
        """The rows that keep a stimulus."""
        now = self._clock.now()
        if found.instance_id is not None:
            expires = None
        else:
            expires = now + (BROADCAST_RETENTION if found.is_broadcast else ADDRESSED_RETENTION)
        return tuple(
            InboxRow(
                tenant=tenant,
                id=f"{found.id}{suffix}",
                key=key,
                correlation=correlation_key(found.correlation_id),
                instance_id=found.instance_id,
                type=found.type,
                arrived=now,
                expires=expires,
                payload=work_rows.encoded(found),
            )
            for key, suffix in zip(matching.wake_keys(found), ("", TWIN), strict=False)
        )

    # -- a stimulus was kept -------------------------------------------------------------------------------------------

    async def search_bookmark(self, tenant: str, found: Stimulus, kept: Sequence[InboxRow]) -> None:
        """The rows are committed: a bookmark that was committed meanwhile has searched before they were there."""
        self._in_hand[tenant, found.id] = []
        try:
            await self._delivery.deliver(tenant, found, frozenset(), inbox=tuple(item.id for item in kept))
        except ENDED:
            return  # The stimulus stays unread; `unread.py` records that.
        except PayloadRefused as error:
            await self._refuse_kept(tenant, found, error)
        finally:
            self._let_go((tenant, found.id))

    def _let_go(self, in_hand: tuple[str, str]) -> None:
        """Search again for the bookmarks that found the stimulus in hand: its delivery may have looked before they existed."""
        self.bookmarks_added(self._in_hand.pop(in_hand))

    # -- bookmarks were committed --------------------------------------------------------------------------------------

    def bookmarks_added(self, marks: Sequence[BookmarkRow]) -> None:
        """These bookmarks are committed: search the inbox for stimuli that arrived before them."""
        self._new_bookmarks.extend(marks)
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
            marks, self._new_bookmarks = self._new_bookmarks, []
            await self.search(marks)

    async def search(self, marks: Sequence[BookmarkRow]) -> None:
        """Deliver kept stimuli to these bookmarks."""
        if not marks:
            return
        for mark, rows in zip(marks, await self._store.find_inbox(marks), strict=True):
            for row in rows:
                if not await self._take_out(row, mark, swept=False):
                    break  # The bookmark is consumed.

    async def _take_out(self, row: InboxRow, mark: BookmarkRow, *, swept: bool) -> bool:
        """Deliver a kept stimulus to a bookmark; False if the bookmark is gone. Of two nodes that try, one consumes the row."""
        found = work_rows.read_inbox_row(row)
        in_hand = row.tenant, found.id
        if in_hand in self._in_hand:
            self._in_hand[in_hand].append(mark)
            return True
        self._in_hand[in_hand] = []
        try:
            payload = work_rows.encoded_input(found)
            taken = await self._delivery.hand_over(mark, found, payload, inbox=_row_ids(found))
        except GONE:
            return False
        except Declined:
            self._declinations.add(found, mark)
            return True
        except PayloadRefused as error:
            await self._refuse_kept(row.tenant, found, error)
            return True
        finally:
            self._let_go(in_hand)
        if taken:
            self._counts.add("swept" if swept else "delivered", found)
        return True

    # -- refusal -------------------------------------------------------------------------------------------------------

    async def refuse(self, row: WorkRow, found: Stimulus, error: PayloadRefused, inbox: tuple[str, ...] = ()) -> None:
        """The payload has the wrong shape. The instance keeps waiting, and a dead letter names the problem."""
        if await self._letters.bury(row, dead_letters.REFUSED, str(error), inbox):
            self._counts.add("refused", found)

    async def _refuse_kept(self, tenant: str, found: Stimulus, error: PayloadRefused) -> None:
        row = work_rows.stimulus(tenant, found, self._clock.now())
        await self.refuse(row, found, error, _row_ids(found))

    # -- sweep ---------------------------------------------------------------------------------------------------------

    def removes_old(self, now: datetime) -> bool:
        """Whether the next sweep removes old records, of one tenant after the other."""
        return self._removed_old is None or now - self._removed_old >= REMOVE_OLD_EVERY

    async def sweep(self) -> int:
        """Deliver stimuli that lie beside their bookmark and remove expired ones; returns the number delivered."""
        now = await self._store.now()
        before = self._counts.by_outcome["swept"]
        for row, mark in await self._store.stranded_inbox(PAGE + len(self._declinations)):
            fresh = max(row.arrived, mark.created) + SWEEP_AFTER > now
            declined = self._declinations.has(work_rows.read_inbox_row(row), mark)
            if row.tenant in self._tenants and not fresh and not declined:
                await self._take_out(row, mark, swept=True)
        for row in await self._store.expire_inbox(PAGE):
            if not row.id.endswith(TWIN):
                self._counts.add("expired", await self._expiry.record(row))
        if self.removes_old(now):
            self._removed_old = now
            self._clean.rotate(-1)
            await self._expiry.remove_old(self._clean[0])
        return self._counts.by_outcome["swept"] - before


def _row_ids(found: Stimulus) -> tuple[str, ...]:
    return (found.id, f"{found.id}{TWIN}")[: len(matching.wake_keys(found))]
