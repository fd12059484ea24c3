"""The router of stimuli (rules H7, H12 and M6).

    sent to this node, and a bookmark waits → delivered at once, without a work row
    a work row → starts by triggers → addressed: the oldest bookmark, once
                                    → broadcast: all bookmarks that fit now, page by page
               → no bookmark: kept in the inbox, or counted and forgotten

A work row may be routed twice: instances that it starts have ids derived from the id of the stimulus, and a delivery consumes
the row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from msgspec.structs import replace

from holdfast.errors import HoldfastError, PayloadRefused
from holdfast.model.commit import Commit, Committed
from holdfast.model.pulse import Pulse
from holdfast.model.stored import BookmarkRow, InstanceKey
from holdfast.model.work import WorkRow
from holdfast.ports import Clock, Store
from holdfast.runtime.commits import work_rows
from holdfast.runtime.commits.work_rows import Stimulus
from holdfast.runtime.membership import Membership
from holdfast.runtime.observability.outage_log import AWAY, OutageLog
from holdfast.runtime.plans.plans import Plans
from holdfast.runtime.plans.triggers import AWAITED, awaited_key
from holdfast.runtime.service import WakeableService
from holdfast.runtime.stimuli.counts import StimulusCounts
from holdfast.runtime.stimuli.dedupe import Settled
from holdfast.runtime.stimuli.delivery import ENDED, StimulusDelivery
from holdfast.runtime.stimuli.inbox import Inbox
from holdfast.runtime.stimuli.matching import BookmarkMatcher
from holdfast.runtime.stimuli.trigger_starts import TriggerStarts
from holdfast.runtime.stimuli.unread import UnreadStimuli, check_row

PAGE = 100
KEPT_FOR_MAX = 10_000

TakeWork = Callable[[Iterable[WorkRow]], None]


class StimulusRouter:
    take_own: TakeWork
    """Takes rows that this node has just added and serves itself; set by the node."""
    take: TakeWork
    """Takes rows now; set by the node."""

    def __init__(
        self,
        store: Store,
        membership: Membership,
        clock: Clock,
        plans: Plans,
        matcher: BookmarkMatcher,
        delivery: StimulusDelivery,
        inbox: Inbox,
        starts: TriggerStarts,
        unread: UnreadStimuli,
        counts: StimulusCounts,
        log: OutageLog,
    ) -> None:
        self._store = store
        self._membership = membership
        self._clock = clock
        self._plans = plans
        self._matcher = matcher
        self._delivery = delivery
        self._inbox = inbox
        self._starts = starts
        self._unread = unread
        self._counts = counts
        self.settled = Settled()
        self._kept_for: set[InstanceKey] = set()
        """Instances for which this node kept a stimulus."""
        self._sweep = WakeableService("inbox-sweep", inbox.sweep, failure="the inbox could not be swept", log=log)

    def start(self) -> None:
        self._sweep.start()

    async def stop(self) -> None:
        await self._sweep.stop()
        await self._inbox.stop()

    def pulsed(self, pulse: Pulse) -> None:
        """Sweep the inbox while it holds stimuli."""
        if pulse.has_inbox or self._inbox.removes_old(pulse.now):
            self._sweep.wake()

    @property
    def counts(self) -> dict[str, int]:
        """Outcomes of stimuli on this node since it started."""
        return dict(self._counts.by_outcome)

    # -- entry points --------------------------------------------------------------------------------------------------

    async def route(self, row: WorkRow) -> None:
        """Route the stimulus of a work row; the commit of the delivery consumes the row."""
        found = work_rows.read_stimulus(row)
        try:
            await self._route(row, found)
        finally:
            self.settled.add(row.tenant, found.id)

    async def deliver_at_once(self, tenant: str, found: Stimulus) -> bool:
        """Deliver without a work row; False if a row is needed: for broadcasts, starts, and stimuli without a bookmark.

        Returns after the receiver's commit, so the delivery is as durable as a queued row.
        """
        if found.is_broadcast or found.guarded:
            return False
        if found.instance_id is None and await self._starts.triggers_exist(tenant, found):
            return False
        try:
            delivered = await self._delivery.deliver(tenant, found, frozenset())
        except (*AWAY, PayloadRefused):
            raise  # AWAY: the outcome is unknown, and a row could deliver it twice. Refused: the sender gets the reason.
        except HoldfastError:
            return False
        if delivered:
            self.settled.add(tenant, found.id)
        return delivered

    def instance_ended(self, key: InstanceKey) -> None:
        """An instance has ended here: stimuli that are still kept for it stay unread."""
        if self._kept_for and key in self._kept_for:
            self._kept_for.discard(key)
            self.take([check_row(key, self._clock.now())])

    async def _route(self, row: WorkRow, found: Stimulus) -> None:
        started: list[str] = []
        if found.instance_id is None and found.after == ("", 0):
            started = await self._starts.start_all(row.tenant, found)
        if found.is_broadcast:
            await self._broadcast_page(row, found, frozenset(started))
        else:
            await self._address(row, found, frozenset(started))

    # -- addressed -----------------------------------------------------------------------------------------------------

    async def _address(self, row: WorkRow, found: Stimulus, started: frozenset[str]) -> None:
        try:
            if await self._delivery.deliver(row.tenant, found, started, consumes_work=row.id):
                return
        except ENDED:  # The instance ended after the stimulus was sent.
            self._counts.add("unread", found)
            await self._settle(row)
            return
        except PayloadRefused as error:
            await self._inbox.refuse(row, found, error)
            return
        if started:
            await self._settle(row)
        else:
            await self._keep(row, found)

    async def _keep(self, row: WorkRow, found: Stimulus) -> None:
        kept = self._inbox.rows_for(row.tenant, found)
        if not await self._settle(row, inbox_added=kept):
            return
        self._counts.add("kept", found)
        if found.instance_id is not None:
            key = InstanceKey(row.tenant, found.instance_id)
            self._kept_for.add(key)
            if len(self._kept_for) > KEPT_FOR_MAX:
                self._kept_for.clear()  # The work rows check these instances.
            await self._unread.schedule_check(key)
        await self._inbox.search_bookmark(row.tenant, found, kept)

    # -- broadcast -----------------------------------------------------------------------------------------------------

    async def _broadcast_page(self, row: WorkRow, found: Stimulus, started: frozenset[str]) -> None:
        """The deliveries of one page and the cursor for the next, in one transaction."""
        marks = await self._matcher.page(row.tenant, found, PAGE)
        reached = [mark for mark in marks if mark.type == found.type and mark.instance_id not in started]
        payload = work_rows.encoded_input(found)
        added = [_delivery_row(row, found, mark, payload) for mark in reached]
        taken = found.taken or bool(reached or started)
        if len(marks) == PAGE:
            last = marks[-1]
            rest = replace(found, after=(last.instance_id, last.seq), taken=taken)
            row_id = f"{found.id}+{last.instance_id}.{last.seq}"
            # A row of its own: attempts of this page are not counted for the next one.
            added.append(replace(row, id=row_id, payload=work_rows.encoded(rest), attempts=0, due=None))
        elif not taken:
            await self._keep_broadcast(row, found)
            return
        if await self._settle(row, work_added=tuple(added)):
            for _ in reached:
                self._counts.add("delivered", found)
            self.take_own(added)

    async def _keep_broadcast(self, row: WorkRow, found: Stimulus) -> None:
        """Keep a broadcast only if a published definition may wait for it, and only for the first instance that does."""
        keys = [awaited_key(found.type)]
        if found.event_name is not None:
            keys.append(awaited_key(found.type, found.event_name))
        awaited = await self._plans.of(row.tenant).current.triggers(keys)
        if not any(item.type == AWAITED for item in awaited):
            self._counts.add("forgotten", found)
            await self._settle(row)
            return
        kept = self._inbox.rows_for(row.tenant, found)
        if await self._settle(row, inbox_added=kept):
            self._counts.add("kept", found)
            marks = await self._matcher.page(row.tenant, found, PAGE)
            await self._inbox.search([mark for mark in marks if mark.type == found.type])

    async def _settle(self, row: WorkRow, **more: Any) -> bool:
        commit = Commit(tenant=row.tenant, burst_id=self._membership.next_id(), work_consumed=(row.id,), **more)
        (outcome,) = await self._store.commit([commit])
        return isinstance(outcome, Committed)


def _delivery_row(row: WorkRow, found: Stimulus, mark: BookmarkRow, payload: bytes) -> WorkRow:
    made = work_rows.resume(
        row.tenant, f"{found.id}>{mark.instance_id}.{mark.seq}", mark.instance_id, f"b{mark.seq}", payload, row.created
    )
    return replace(made, queue=row.queue, priority=row.priority)
