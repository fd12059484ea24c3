"""Delivers kept stimuli to an instance in the order in which they were stored (rule H16).

One drain per instance and node runs at a time. It reads the inbox in pages and hands each page to one job: stimuli that the
instance takes one after the other are one commit. After a conflict it reads the inbox again, so that nothing is overtaken. In
quarantine it delivers nothing: `counted_mail.py` does.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta
from time import monotonic

from holdfast.errors import PayloadRefused
from holdfast.model.stored import BookmarkQuery, InstanceKey
from holdfast.model.work import InboxRow
from holdfast.ports import Mail, Store
from holdfast.runtime.commits import work_rows
from holdfast.runtime.commits.in_hand import InstancesInHand
from holdfast.runtime.commits.instance_cache import InstanceCache
from holdfast.runtime.commits.jobs.mail import Letter, MailJob
from holdfast.runtime.commits.lanes import Lanes
from holdfast.runtime.commits.work_rows import Stimulus
from holdfast.runtime.intake import Intake
from holdfast.runtime.plans.obstacles import OBSTACLES, Obstacles
from holdfast.runtime.service import BackgroundTasks, end_tasks
from holdfast.runtime.stimuli.counts import StimulusCounts
from holdfast.runtime.stimuli.dedupe import Declinations
from holdfast.runtime.stimuli.delivery import ENDED

PAGE_FIRST, PAGE_MAX = 4, 256
"""Rows of the first page, and of the largest: a page that was taken whole is followed by a page four times as large."""
CONFLICTS_AT_ONCE = 3
BACKOFF_SECONDS = 0.02
PARKED_RETRY = timedelta(minutes=1)
"""Pause until mail is offered again to an instance that this process could not run."""
TWIN = "~a"
"""Suffix of the second inbox row of an event that two kinds of waits may take; both rows are consumed together."""

Refuse = Callable[[str, Stimulus, PayloadRefused], Awaitable[None]]
Offer = Callable[[InstanceKey], Awaitable[None]]


class MailDrain:
    refuse: Refuse
    """Replaces a kept stimulus of the wrong shape by a dead letter; set by the inbox."""
    offer: Offer
    """Adds a work row that delivers the first kept stimulus and counts the attempt; set by `CountedMail`."""

    def __init__(
        self,
        store: Store,
        lanes: Lanes,
        cache: InstanceCache,
        in_hand: InstancesInHand,
        declinations: Declinations,
        counts: StimulusCounts,
        obstacles: Obstacles,
        intake: Intake,
    ) -> None:
        self._store = store
        self._lanes = lanes
        self._cache = cache
        self._in_hand = in_hand
        self._declinations = declinations
        self._counts = counts
        self._obstacles = obstacles
        self._intake = intake
        self._parked: dict[InstanceKey, tuple[float, int]] = {}
        """Instances that this process cannot run: when their mail is tried again, and the number of letters."""
        self._others = BackgroundTasks("kept stimuli could not be delivered; the sweep delivers them")
        self._drains: dict[InstanceKey, asyncio.Task[None]] = {}
        self._again: set[InstanceKey] = set()
        """Instances with a running drain that shall look once more."""

    async def stop(self) -> None:
        await self._others.stop()
        await end_tasks(list(self._drains.values()))

    async def drain(self, key: InstanceKey, outcome: str = "delivered") -> None:
        """Deliver the mail of an instance that is stored now; returns when no kept stimulus fits its bookmarks."""
        task = self._drains.get(key)
        if task is None:
            task = asyncio.get_running_loop().create_task(self._run(key, outcome), name="holdfast-mail")
            self._drains[key] = task
        else:
            self._again.add(key)
        await asyncio.shield(task)

    async def _run(self, key: InstanceKey, outcome: str) -> None:
        self._in_hand.hold(key)
        try:
            while True:
                self._again.discard(key)
                await self._deliver_all(key, outcome)
                if key not in self._again:
                    return
        finally:
            self._again.discard(key)
            del self._drains[key]
            self._in_hand.release(key)

    async def _deliver_all(self, key: InstanceKey, outcome: str) -> None:
        limit, conflicts = PAGE_FIRST, 0
        while True:
            if self._intake.in_quarantine:
                await self.offer(key)
                return
            letters, mail = await self.read(key, limit, outcome)
            if not letters:
                return
            job = MailJob(key, letters, mail.seen)
            if not await self._handed_over(job, outcome):
                return
            if job.lost:
                conflicts += 1
                self.forget(key)
                if conflicts > CONFLICTS_AT_ONCE:
                    await asyncio.sleep(random.uniform(0, BACKOFF_SECONDS * min(conflicts, 10)))
                continue
            taken = sum(not letter.is_open for letter in letters)
            if taken == len(letters) or (not taken and len(mail.rows) == limit and not job.stale):
                limit = min(limit * 4, PAGE_MAX) if taken else limit * 4  # None of a full page fits: look behind it.
            elif taken or job.stale:
                limit = PAGE_FIRST
            else:
                return

    async def read(self, key: InstanceKey, limit: int, outcome: str = "delivered") -> tuple[list[Letter], Mail]:
        """The letters of one page. Instances that wait longer for some of its stimuli get their mail too."""
        (mail,) = await self._store.find_mail([key], limit)
        letters, others = await self._letters(key, mail)
        for other in others:
            self._others.start(self.drain(other, outcome))  # Not awaited: it may find that this one waits longer.
        return letters, mail

    async def _handed_over(self, job: MailJob, outcome: str) -> bool:
        """Run the job and record its outcomes; False if the instance receives nothing any more."""
        try:
            await self.hand_over(job, outcome)
        except ENDED:
            return False  # The stimuli stay unread; `unread.py` records that.
        except OBSTACLES as error:
            self._park(job, error)
            return False
        return True

    async def hand_over(self, job: MailJob, outcome: str) -> None:
        assert job.answer is not None
        self._lanes.submit(job)
        await job.answer
        self._parked.pop(job.key, None)
        for letter in job.letters:
            if letter.delivered is not None:
                self._counts.add(job.key.tenant, outcome, letter.found)
            for number in letter.declined:
                self._declinations.add_place(job.key, letter.found, number)
            if letter.refused is not None:
                await self.refuse(job.key.tenant, letter.found, letter.refused)

    def forget(self, key: InstanceKey) -> None:
        """The commit of a job had a conflict: the next job reads the instance from the store."""
        self._cache.forget(key)

    # -- parked mail ---------------------------------------------------------------------------------------------------

    @property
    def parked_letters(self) -> int:
        """Letters that the sweep leaves out."""
        return sum(letters for _, letters in self._parked.values())

    def is_parked(self, key: InstanceKey) -> bool:
        """Whether this process could not run the instance lately: its mail stays for a process that can (rule H10)."""
        return key in self._parked and self._parked[key][0] > monotonic()

    def _park(self, job: MailJob, error: Exception) -> None:
        self._obstacles.met(job.key.tenant, error, instance_id=job.key.id)
        self._parked[job.key] = monotonic() + PARKED_RETRY.total_seconds(), len(job.letters)

    # -- letters -------------------------------------------------------------------------------------------------------

    async def _letters(self, key: InstanceKey, mail: Mail) -> tuple[list[Letter], set[InstanceKey]]:
        """The letters of a page; and instances that wait for some of them longer than this one (rule H12)."""
        found: dict[str, tuple[InboxRow, Stimulus]] = {}
        for row in mail.rows:
            stimulus = work_rows.read_inbox_row(row)
            found.setdefault(stimulus.id, (row, stimulus))
        shared = [row for row, stimulus in found.values() if row.instance_id is None]
        first, others = await self._shared(key, shared) if shared else (frozenset[str](), set[InstanceKey]())
        letters = [
            Letter(stimulus, row_ids(stimulus))
            for row, stimulus in found.values()
            if row.instance_id is not None or row.id in first
        ]
        return letters, others

    async def _shared(self, key: InstanceKey, rows: Sequence[InboxRow]) -> tuple[frozenset[str], set[InstanceKey]]:
        """Rows without an instance go to the oldest bookmark: if another instance waits too, this one gets at most one."""
        queries = [BookmarkQuery(tenant=row.tenant, key=row.key, correlation=row.correlation, limit=2) for row in rows]
        asked = list({(query.key, query.correlation): query for query in queries}.values())
        matches = (await self._store.find_bookmarks(asked)).bookmarks
        waiting = {(query.key, query.correlation): marks for query, marks in zip(asked, matches, strict=True)}
        mine: set[str] = set()
        others: set[InstanceKey] = set()
        had: set[tuple[int, int]] = set()
        for row in rows:
            place = row.key, row.correlation
            marks = waiting[place]
            if marks and marks[0].instance_id != key.id:
                others.add(InstanceKey(key.tenant, marks[0].instance_id))
            elif all(mark.instance_id == key.id for mark in marks) or place not in had:
                mine.add(row.id)
            had.add(place)
        return frozenset(mine), others


def row_ids(found: Stimulus) -> tuple[str, ...]:
    """The inbox rows of a stimulus."""
    twins = found.event_name is not None and found.key is None and not found.is_broadcast
    return (found.id, f"{found.id}{TWIN}") if twins else (found.id,)
