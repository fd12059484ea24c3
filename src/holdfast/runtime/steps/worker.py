"""Steps: effects that a queue carries. Sending them after their commit, taking them, and running them here (seed 5).

Whoever takes a step first makes its row their own (`own_effect`), by the store's judgement, then lets the ticket go, then runs
it. So a ticket that comes twice runs once, and one that is lost is sent again. The result is committed by who ran it, and who
commits it runs the next segment.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from holdfast.errors import (
    DefinitionError,
    HoldfastError,
    StoreError,
    TransportError,
)
from holdfast.execution.live import LiveInstance
from holdfast.model.stored import InstanceRow
from holdfast.model.ticket import Ticket
from holdfast.model.work import EffectRow, WorkRow
from holdfast.ports import Delivery
from holdfast.runtime.commits.placement import STEP_QUEUE, Placement, step_priority, step_row
from holdfast.runtime.observability.throttled_log import Sparing
from holdfast.runtime.queue_watch import BREATH, Lookout
from holdfast.runtime.steps.limits.cluster import Permits
from holdfast.runtime.steps.limits.per_value import EachValue
from holdfast.runtime.steps.limits.spec import Limit
from holdfast.runtime.steps.queue_share import PAUSE, Key, Share, shares_of
from holdfast.runtime.steps.sender import StepSending
from holdfast.runtime.steps.tickets import RowSlip, Slip, TicketAlone, TicketSlip
from holdfast.runtime.task_end import end

if TYPE_CHECKING:
    from holdfast.runtime.cluster.node import Node

logger = logging.getLogger("holdfast")


class Steps:
    def __init__(
        self,
        node: Node,
        placement: Placement,
        concurrency: int,
        limits: Mapping[str, Limit] | None = None,
        cluster_limits: Mapping[str, Limit] | None = None,
    ) -> None:
        self._node = node
        self._placement = placement
        self.concurrency = concurrency
        """Steps that run here at one time."""
        self._tasks: set[asyncio.Task[None]] = set()
        self._taking: list[asyncio.Task[None]] = []
        self._changed = asyncio.Event()
        self._sending = StepSending(node, placement, self._in_background)
        self._untaken = Sparing()
        self._returning: set[Permits] = set()
        self._shares = list(shares_of(node, limits or {}, cluster_limits or {}))

    # -- sending -------------------------------------------------------------------------------------------------------

    def send(self, live: LiveInstance, instance: InstanceRow, rows: Sequence[EffectRow]) -> None:
        """The commit that wrote these rows is done: bring those that have a queue to whoever runs them."""
        queued = [row for row in rows if row.queue]
        if not queued:
            return
        self._changed.set()
        self._sending.send(live, instance, queued)
        if self._taking and self._placement.rows and not self._node.gate.careful:
            self._take_own(live, instance, queued)

    def _take_own(self, live: LiveInstance, instance: InstanceRow, queued: Sequence[EffectRow]) -> None:
        """Begin rows that this node has just written and serves itself, without a look at the table: as many as have room,
        where nobody else has to be asked. What is left is taken from the table."""
        rows = [step_row(row, instance.content, row.created, step_priority(live.plan, row)) for row in queued]
        for row in sorted(rows, key=lambda row: -row.priority):
            share = next((item for item in self._shares if row.queue.removeprefix(STEP_QUEUE) in item.queues), None)
            if (
                share is not None and share.permits is None and row.id not in share.in_hand
                and row.created <= instance.updated and self._room(share) > 0
            ):  # fmt: skip
                share.begin(row.id)
                self._in_background(self._take_row(row, share))

    def resend(self, row: EffectRow) -> None:
        self._sending.resend(row)

    # -- taking --------------------------------------------------------------------------------------------------------

    def start(self) -> None:
        ways = [self._take_rows] if self._placement.transport is None else [self._take_tickets, self._take_rows]
        loop = asyncio.get_running_loop()
        self._taking = [loop.create_task(way(share), name="holdfast-steps") for share in self._shares for way in ways]

    async def stop_taking(self) -> None:
        await end(self._taking)
        self._taking = []

    async def stop(self) -> None:
        await self.stop_taking()
        await end(self._tasks)

    def ended(self, key: Key) -> None:
        """An effect that ran here has ended."""
        for share in self._shares:
            if key in share.running:
                share.running.discard(key)
                self._uncount(key, share)
                self._fewer(share)

    def _uncount(self, key: Key, share: Share) -> None:
        values = share.values.pop(key, None)
        if values and share.each is not None:
            self._in_background(share.each.end(values))

    def _fewer(self, share: Share) -> None:
        """Something of this share has ended: there is room, here or for other nodes."""
        self._changed.set()
        if share.permits is not None and share.permits not in self._returning:
            self._returning.add(share.permits)
            self._in_background(self._return_places(share, share.permits))

    async def _return_places(self, share: Share, permits: Permits) -> None:
        await asyncio.sleep(BREATH.total_seconds())  # The next one may be here by then.
        self._returning.discard(permits)
        await permits.give_back(share.used)

    def _room(self, share: Share) -> int:
        node = self._node
        if node.gate.paused or not node.heart.may_start_effects:
            return 0
        return share.room(self.concurrency - sum(len(item.running) + len(item.in_hand) for item in self._shares))

    async def _until_room(self, share: Share, most: int = 1_000_000) -> int:
        """How many may begin, of at most so many; with a limit of the cluster, promised until they are settled."""
        while True:
            room = min(most, self._room(share))
            if room > 0 and share.permits is not None:
                room = await share.permits.reserve(room, share.used)
            if room > 0:
                return room
            self._changed.clear()
            try:
                async with asyncio.timeout(share.patience):
                    await self._changed.wait()
            except TimeoutError:
                continue

    def _settle(self, share: Share, room: int, begun: int) -> None:
        if share.permits is not None:
            share.permits.settle(room, begun)
            if not begun:
                self._fewer(share)

    async def _take_rows(self, share: Share) -> None:
        """Steps on the work table: all of them, or those that the broker could not hold back."""
        node, queues = self._node, [STEP_QUEUE + queue for queue in share.queues]
        lookout = Lookout(node.store, queues)
        while True:
            try:
                if not await lookout.is_due():
                    await lookout.wait()
                    continue  # Places are taken for work that there is.
                room = await self._until_room(share)
                rows: list[WorkRow] = []
                try:
                    # Those in hand are in the table until they are deleted: look past them.
                    async with node.store.claim(queues, room + len(share.in_hand), lacking=node.pins.lacking) as claim:
                        rows = [row for row in claim.rows if row.id not in share.in_hand][:room]
                    for row in rows:
                        share.begin(row.id)
                        self._in_background(self._take_row(row, share))
                finally:
                    self._settle(share, room, len(rows))
                if not rows:
                    await lookout.wait()
            except StoreError:
                node.outage.warn("steps could not be read from the work table")
                await asyncio.sleep(PAUSE)

    async def _take_row(self, row: WorkRow, share: Share) -> None:
        slip = RowSlip(self._node, row)
        try:
            await self._run(slip, share)
            if slip.deleting is not None:
                await asyncio.wait([slip.deleting])
        finally:
            share.in_hand.discard(row.id)
            self._fewer(share)

    async def _take_tickets(self, share: Share) -> None:
        source = self._placement.transport
        assert source is not None
        while True:
            try:
                async with source.consume(share.queues, prefetch=self.concurrency) as consumer:
                    async for delivery in consumer:
                        room = await self._until_room(share, 1)
                        mark = f"{delivery.ticket.instance_id}.{delivery.ticket.execution}"
                        share.begin(mark)
                        self._settle(share, room, 1)
                        self._in_background(self._take_delivery(delivery, share, mark))
            except TransportError as error:
                self._untaken.warn("steps could not be taken from %s", source.name, because=error)
                await asyncio.sleep(PAUSE)

    async def _take_delivery(self, delivery: Delivery, share: Share, mark: str) -> None:
        try:
            if self._is_ours(delivery.ticket):
                await self._run(TicketSlip(self._node, delivery), share)
            else:
                await delivery.ack()
        finally:
            share.in_hand.discard(mark)
            self._fewer(share)

    async def run_to_end(self, ticket: Ticket) -> bool:
        """Run what a ticket names, and wait until it has ended: for carriers whose own workers count what they run.
        Whether it was begun here."""
        if not self._is_ours(ticket):
            return False
        slip = TicketAlone(ticket)
        begun = await self._run(slip, Share(()))
        if begun:
            await self._node.effects.ended(slip.instance_id, slip.ref.execution)
        return begun

    def _is_ours(self, ticket: Ticket) -> bool:
        """A step of this tenant: a broker may bring anything."""
        return ticket.instance_id is not None and ticket.execution is not None and ticket.tenant == self._node.tenant

    async def _run(self, slip: Slip, share: Share) -> bool:
        """Run what a slip names, if it is still so and its turn; whether it was begun here."""
        node, key = self._node, (slip.instance_id, slip.ref.execution)
        # In hand before it is ours: the sweep picks up what is this node's and nobody works on.
        node.hold(slip.instance_id)
        try:
            if share.each is not None and not await self._may_begin(slip, share, share.each):
                return False
            owned = await self._own(slip)
            if owned is None:
                self._uncount(key, share)
                return False
            share.running.add(key)
            try:
                await node.takeover.adopt(owned)
            except HoldfastError:
                node.outage.warn("a step of instance %s could not be begun; the sweeper picks it up", slip.instance_id)
            finally:
                if not node.effects.has(*key):
                    self.ended(key)
        finally:
            node.let_go(slip.instance_id)
        return True

    async def _may_begin(self, slip: Slip, share: Share, each: EachValue) -> bool:
        """By the limits per value; one that may not is put off."""
        node, key = self._node, (slip.instance_id, slip.ref.execution)
        if key in share.values:  # It came twice, and is at it here.
            await slip.settle()
            return False
        share.values[key] = []
        begun = False
        try:
            rows = await node.store.effects_of(node.tenant, slip.instance_id)
            row = next((row for row in rows if row.ref == slip.ref), None)
            if row is None:  # It is another's by now.
                await slip.settle()
                return False
            values = await each.values_of(row, slip.content or (await node.row(slip.instance_id)).content)
            pause = await each.begin(values)
            if pause is None:
                share.values[key], begun = values, True
            else:
                await slip.put_off(pause)
        except (DefinitionError, StoreError) as error:
            await self._give_back(slip, error)
        finally:
            if not begun:
                del share.values[key]
        return begun

    async def _own(self, slip: Slip) -> EffectRow | None:
        """Make it this node's, then let the ticket go; None if it is another's by now, or cannot be taken."""
        node = self._node
        try:
            if slip.content:  # Before it is ours: who lacks the code leaves it to others (rule H10).
                await node.pins.plan(slip.content)
            owned = await node.store.own_effect(node.tenant, slip.instance_id, slip.ref, node.owner)
        except (DefinitionError, StoreError) as error:
            await self._give_back(slip, error)
            return None
        await slip.settle()
        return owned

    async def _give_back(self, slip: Slip, error: Exception) -> None:
        self._node.outage.warn("a step of instance %s could not be taken", slip.instance_id, because=error)
        await asyncio.sleep(PAUSE)
        await slip.give_back()

    def _in_background(self, work: Coroutine[Any, Any, Any]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            logger.error("a step failed outside its activity", exc_info=error)
