"""The router of stimuli (rules H7, H12 and M6).

    addressed, no triggers → a bookmark waits, and nothing older is kept for the address: delivered at once
                           → otherwise kept in the inbox, and delivered from there in order (rule H16)
    a work row → starts by triggers → addressed: the inbox; or the oldest bookmark, if instances were started
                                    → broadcast: all bookmarks that fit now, page by page
                                    → no bookmark: kept in the inbox, or counted and forgotten

A work row may be routed twice: instances that it starts have ids derived from the id of the stimulus, and a delivery consumes
the row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from msgspec.structs import replace

from holdfast.errors import HoldfastError, PayloadRefused
from holdfast.model.commit import Commit, Committed
from holdfast.model.instance import Status
from holdfast.model.pulse import Pulse
from holdfast.model.stored import BookmarkRow, InstanceKey
from holdfast.model.work import InboxRow, WorkRow
from holdfast.ports import Clock, Store
from holdfast.runtime.commits import work_rows
from holdfast.runtime.commits.work_rows import Stimulus
from holdfast.runtime.membership import Membership
from holdfast.runtime.observability.outage_log import AWAY, OutageLog
from holdfast.runtime.plans.plans import Plans
from holdfast.runtime.plans.triggers import AWAITED, awaited_key
from holdfast.runtime.service import BackgroundTasks, WakeableService
from holdfast.runtime.stimuli.counts import StimulusCounts
from holdfast.runtime.stimuli.dedupe import Settled
from holdfast.runtime.stimuli.delivery import StimulusDelivery
from holdfast.runtime.stimuli.inbox import Inbox
from holdfast.runtime.stimuli.matching import BookmarkMatcher
from holdfast.runtime.stimuli.trigger_starts import TriggerStarts
from holdfast.runtime.stimuli.unread import check_row

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
        self._counts = counts
        self._log = log
        self._looks = BackgroundTasks("a kept stimulus could not be delivered")
        self.settled = Settled()
        self._kept_for: set[InstanceKey] = set()
        """Instances for which this node kept a stimulus."""
        self._sweep = WakeableService("inbox-sweep", inbox.sweep, failure="the inbox could not be swept", log=log)

    def start(self) -> None:
        self._sweep.start()

    async def stop(self) -> None:
        await self._sweep.stop()
        await self._looks.stop()
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

    async def starts(self, tenant: str, found: Stimulus) -> bool:
        """Whether the stimulus may start instances: only a work row does that."""
        return found.instance_id is None and await self._starts.triggers_exist(tenant, found)

    async def deliver_at_once(self, tenant: str, found: Stimulus) -> bool:
        """Deliver an addressed stimulus without storing it; False if it must be kept: no bookmark takes it, older stimuli
        of its address are kept (rule H16), or its instance does not live.

        Returns after the receiver's commit, so the delivery is as durable as a kept stimulus.
        """
        try:
            delivered = await self._delivery.deliver_at_once(tenant, found)
        except (*AWAY, PayloadRefused):
            raise  # AWAY: the outcome is unknown, and a row could deliver it twice. Refused: the sender gets the reason.
        except HoldfastError:
            return False
        if delivered:
            self.settled.add(tenant, found.id)
        return delivered

    def kept_rows(
        self, tenant: str, found: Stimulus, due: datetime | None, bell: Mapping[str, Any] | None
    ) -> tuple[Sequence[InboxRow], Sequence[WorkRow]]:
        """The rows that keep an addressed stimulus, and the work rows beside them. `bell` are the fields of the row that makes
        another node deliver it."""
        work = [] if bell is None else [self._inbox.bell(tenant, found, **bell)]
        if found.instance_id is not None:
            work.append(check_row(InstanceKey(tenant, found.instance_id), self._clock.now()))
        return self._inbox.rows_for(tenant, found, due), work

    def kept(self, tenant: str, found: Stimulus, *, look: bool) -> None:
        """The stimulus is stored. `look` delivers it here, in the background, as soon as a bookmark fits."""
        self._counts.add(tenant, "kept", found)
        if found.instance_id is not None:
            self._kept_for.add(InstanceKey(tenant, found.instance_id))
            if len(self._kept_for) > KEPT_FOR_MAX:
                self._kept_for.clear()  # The work rows check these instances.
        if look:
            self._looks.start(self._look(tenant, found))

    async def _look(self, tenant: str, found: Stimulus) -> None:
        try:
            await self._inbox.look(tenant, found)
        except AWAY:
            self._log.warning("a kept stimulus could not be delivered yet; the sweep delivers it")
        except HoldfastError:  # This node cannot run the instance: another one may.
            await self._store.enqueue([self._inbox.bell(tenant, found)])
        finally:
            self.settled.add(tenant, found.id)

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
        if not started:
            await self._keep(row, found)
            return
        try:
            if not await self._delivery.deliver(row.tenant, found, started, consumes_work=row.id):
                await self._settle(row)
        except PayloadRefused as error:
            await self._inbox.refuse(row, found, error)

    async def _keep(self, row: WorkRow, found: Stimulus) -> None:
        """The stimulus leaves the work table for the inbox, where it takes its place, and is delivered from there."""
        if found.instance_id is not None and await self._has_ended(InstanceKey(row.tenant, found.instance_id)):
            self._counts.add(row.tenant, "unread", found)
            await self._settle(row)
            return
        kept, work = self.kept_rows(row.tenant, found, None, None)
        if await self._settle(row, inbox_added=kept):
            self.kept(row.tenant, found, look=False)
            await self._store.enqueue(work)
            await self._inbox.look(row.tenant, found)

    async def _has_ended(self, key: InstanceKey) -> bool:
        row = (await self._store.load([key])).instances.get(key)
        return row is None or row.status in (Status.FINISHED, Status.CANCELED)

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
                self._counts.add(row.tenant, "delivered", found)
            self.take_own(added)

    async def _keep_broadcast(self, row: WorkRow, found: Stimulus) -> None:
        """Keep a broadcast only if a published definition may wait for it, and only for the first instance that does."""
        keys = [awaited_key(found.type)]
        if found.event_name is not None:
            keys.append(awaited_key(found.type, found.event_name))
        awaited = await self._plans.of(row.tenant).current.triggers(keys)
        if not any(item.type == AWAITED for item in awaited):
            self._counts.add(row.tenant, "forgotten", found)
            await self._settle(row)
            return
        kept = self._inbox.rows_for(row.tenant, found)
        if await self._settle(row, inbox_added=kept):
            self._counts.add(row.tenant, "kept", found)
            await self._inbox.look(row.tenant, found)

    async def _settle(self, row: WorkRow, **more: Any) -> bool:
        commit = Commit(tenant=row.tenant, burst_id=self._membership.next_id(), work_consumed=(row.id,), **more)
        (outcome,) = await self._store.commit([commit])
        return isinstance(outcome, Committed)


def _delivery_row(row: WorkRow, found: Stimulus, mark: BookmarkRow, payload: bytes) -> WorkRow:
    made = work_rows.resume(
        row.tenant, f"{found.id}>{mark.instance_id}.{mark.seq}", mark.instance_id, f"b{mark.seq}", payload, row.created
    )
    return replace(made, queue=row.queue, priority=row.priority)
