"""Brings stimuli to those whom they concern, exactly as rules H7, H12 and M6 say.

    sent to this node, and somebody waits for it → that one, without a row of its own
    a row of the work table → starts by triggers → addressed: the oldest bookmark, once
                                                 → broadcast: all that fit now, page by page
                            → nobody: kept in the inbox, or counted and forgotten

"Write, commit, then look" on both sides: what is kept is committed first, and then a bookmark is looked for again; a burst that
parks commits its bookmarks, and then looks in the inbox (`parked`). Whoever dies in between leaves it to the sweep.

Doing a row twice is harmless: instances that it starts have ids made of the stimulus' id, a delivery uses up the row.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from holdfast import telemetry
from holdfast.errors import (
    BookmarkNotFound,
    HoldfastError,
    InstanceAtRest,
    InstanceNotFound,
    PayloadRefused,
)
from holdfast.model.commit import Commit, Committed
from holdfast.model.guard import Guard, idempotency_key
from holdfast.model.stored import BookmarkRow, correlation_key
from holdfast.model.work import InboxRow, WorkRow
from holdfast.runtime.commits import dead_letters, work_rows
from holdfast.runtime.commits.jobs.dispatch import Declined, DeliverJob
from holdfast.runtime.commits.work_rows import Stimulus
from holdfast.runtime.observability.outage_log import AWAY
from holdfast.runtime.plans.triggers import AWAITED, awaited_key
from holdfast.runtime.stimuli import matching, unread
from holdfast.runtime.stimuli.dedupe import Declinations, Settled
from holdfast.runtime.stimuli.inbox_expiry import note_expired, tidy
from holdfast.runtime.stimuli.matching import Place
from holdfast.runtime.stimuli.trigger_starts import start_all
from holdfast.runtime.task_end import end

if TYPE_CHECKING:
    from holdfast.runtime.cluster.node import Node

PAGE = 100
KEPT_FOR_MAX = 10_000
KEPT_FOR_ADDRESS = timedelta(hours=24)
KEPT_FOR_EVERYONE = timedelta(minutes=10)
SWEEP_AFTER = timedelta(seconds=5)
"""What lies beside its bookmark for longer was left by somebody who died."""
TWIN = "~a"
"""An event that is kept for an instance or a correlation id may be taken by two kinds of waits: two rows, used up together."""
_ENDED = (InstanceAtRest, InstanceNotFound)
_GONE = (BookmarkNotFound, *_ENDED)


class Post:
    def __init__(self, node: Node) -> None:
        self._node = node
        self.counts: Counter[str] = Counter()
        """What became of stimuli on this node: delivered, started, refused, kept, forgotten, unread, expired, swept."""
        self.settled = Settled()
        self._kept_for: set[str] = set()
        """Instances that something was kept for here."""
        self._parked: list[BookmarkRow] = []
        self._in_hand: set[str] = set()
        """Kept stimuli that are being delivered from here."""
        self._declined = Declinations()
        self._looking: asyncio.Task[None] | None = None
        self._sweeping: asyncio.Task[None] | None = None

    # -- life ----------------------------------------------------------------------------------------------------------

    def start(self) -> None:
        self._sweeping = asyncio.get_running_loop().create_task(self._run(), name="holdfast-post")

    async def stop(self) -> None:
        await end(task for task in (self._sweeping, self._looking) if task is not None)
        self._sweeping = self._looking = None

    async def _run(self) -> None:
        while True:
            await asyncio.sleep(self._node.sweep_every.total_seconds())
            try:
                await self.sweep()
            except Exception:  # noqa: BLE001 - it is told, and tried again
                self._node.outage.warn("the inbox could not be swept")

    # -- one stimulus --------------------------------------------------------------------------------------------------

    async def take(self, row: WorkRow) -> None:
        """Do what a stimulus' row asks for; it is used up by the commit that does it."""
        found = work_rows.read_stimulus(row)
        try:
            await self._take(row, found)
        finally:
            self.settled.tell(found.id)

    async def at_once(self, found: Stimulus) -> bool:
        """Deliver it without a row of its own; False if it needs one: it is for many, it starts something, nobody waits for
        it, or it could not be done. The answer comes after the commit of who took it, which is as good as a row's."""
        current = self._node.pins.current
        if found.is_broadcast or found.guarded:
            return False
        if found.instance_id is None and await current.triggers([matching.trigger_key(found)]):
            return False
        try:
            delivered = await self._deliver(found, frozenset())
        except (*AWAY, PayloadRefused):
            raise  # Whether it was written is not known: with a row, it might be delivered twice. Or: who sends it hears why.
        except HoldfastError:
            return False
        if delivered:
            self.settled.tell(found.id)
        return delivered

    async def _take(self, row: WorkRow, found: Stimulus) -> None:
        started: list[str] = []
        if found.instance_id is None and found.after == ("", 0):
            started = await start_all(self._node, found, self._count)
        if found.is_broadcast:
            await self._page(row, found, frozenset(started))
        else:
            await self._address(row, found, frozenset(started))

    async def _address(self, row: WorkRow, found: Stimulus, started: frozenset[str]) -> None:
        try:
            if await self._deliver(found, started, consumes_work=row.id):
                return
        except _ENDED:  # It had not when this was sent: nobody will read it.
            self._count("unread", found)
            await self._settle(row)
            return
        except PayloadRefused as error:
            await self._refuse(row, found, error)
            return
        if started:
            await self._settle(row)
            return
        kept = self._inbox_rows(row, found)
        if await self._settle(row, inbox_added=kept):
            self._count("kept", found)
            if found.instance_id is not None:
                self._kept_for.add(found.instance_id)
                if len(self._kept_for) > KEPT_FOR_MAX:
                    self._kept_for.clear()  # The rows on the work table look after them.
                await unread.keep_looking(self._node, found.instance_id)
            # Committed: now look again. Whoever parked meanwhile has looked before the row was there.
            await self._look_for(found, kept)

    async def _look_for(self, found: Stimulus, kept: Sequence[InboxRow]) -> None:
        self._in_hand.add(found.id)
        try:
            await self._deliver(found, frozenset(), inbox=tuple(item.id for item in kept))
        except _ENDED:
            return  # Whoever looks after what is kept for it finds it unread.
        except PayloadRefused as error:
            await self._refuse_kept(found, error)
        finally:
            self._in_hand.discard(found.id)

    async def _deliver(self, found: Stimulus, passed: frozenset[str], **consumes: Any) -> bool:
        """To the oldest bookmark that fits and still stands; False if there is none. Raises `PayloadRefused` if it has not the
        shape that one of them waits for, and the others do not take it."""
        declined: set[Place] = set()
        refused: PayloadRefused | None = None
        while True:
            mark = await matching.oldest(self._node, found, passed, declined)
            if mark is None and refused is not None:
                raise refused
            if mark is None:
                return False
            try:
                taken = await self._hand_over(mark, work_rows.encoded_input(found), guards=_guards(found), **consumes)
            except _GONE:
                self._node.forget(mark.instance_id)
                continue  # Somebody else was faster, and used the bookmark up: match again.
            except Declined:
                declined.add(self._declined.add(found, mark))
                continue
            except PayloadRefused as error:
                declined.add(matching.place_of(mark))
                refused = refused or error
                continue
            if taken:
                self._count("delivered", found)
            return True

    async def _hand_over(self, mark: BookmarkRow, payload: bytes, **more: Any) -> bool:
        """False: the stimulus was taken by somebody else meanwhile."""
        node = self._node
        job = DeliverJob(mark.instance_id, f"b{mark.seq}", payload, **more)
        assert job.answer is not None
        node.submit(job)
        return (await job.answer).result is not None

    async def _page(self, row: WorkRow, found: Stimulus, started: frozenset[str]) -> None:
        """Deliveries of one page and the cursor, in one transaction."""
        node = self._node
        marks = await matching.page(node, found, PAGE)
        reached = [mark for mark in marks if mark.type == found.type and mark.instance_id not in started]
        payload = work_rows.encoded_input(found)
        added = [_delivery(row, found, mark, payload) for mark in reached]
        taken = found.taken or bool(reached or started)
        if len(marks) == PAGE:
            last = marks[-1]
            rest = replace(found, after=(last.instance_id, last.seq), taken=taken)
            name = f"{found.id}+{last.instance_id}.{last.seq}"
            # Work of its own: that somebody was careful with this page is not counted against the next.
            added.append(replace(row, id=name, payload=work_rows.encoded(rest), attempts=0, due=None))
        elif not taken:
            await self._keep_for_everyone(row, found)
            return
        if await self._settle(row, work_added=tuple(added)):
            for _ in reached:
                self._count("delivered", found)
            node.uptake.take_own(added)

    async def _keep_for_everyone(self, row: WorkRow, found: Stimulus) -> None:
        """Only if somebody may come to wait for it, and only for the first of them."""
        keys = [awaited_key(found.type)]
        if found.event_name is not None:
            keys.append(awaited_key(found.type, found.event_name))
        if not any(item.type == AWAITED for item in await self._node.pins.current.triggers(keys)):
            self._count("forgotten", found)
            await self._settle(row)
            return
        kept = self._inbox_rows(row, found)
        if await self._settle(row, inbox_added=kept):
            self._count("kept", found)
            await self._look([mark for mark in await matching.page(self._node, found, PAGE) if mark.type == found.type])

    async def _settle(self, row: WorkRow, **more: Any) -> bool:
        node = self._node
        commit = Commit(tenant=row.tenant, burst_id=node.next_id(), work_consumed=(row.id,), **more)
        (outcome,) = await node.store.commit([commit])
        return isinstance(outcome, Committed)

    async def _refuse(self, row: WorkRow, found: Stimulus, error: PayloadRefused, inbox: tuple[str, ...] = ()) -> None:
        """It has another shape than who waits for it wants: they wait on, and a dead letter says what is wrong with it."""
        if await dead_letters.bury(self._node, row, dead_letters.REFUSED, str(error), inbox):
            self._count("refused", found)

    async def _refuse_kept(self, found: Stimulus, error: PayloadRefused) -> None:
        row = work_rows.stimulus(self._node.tenant, found, self._node.clock.now())
        await self._refuse(row, found, error, _ids(found))

    def _inbox_rows(self, row: WorkRow, found: Stimulus) -> tuple[InboxRow, ...]:
        now = self._node.clock.now()
        if found.instance_id is not None:
            expires = None
        else:
            expires = now + (KEPT_FOR_EVERYONE if found.is_broadcast else KEPT_FOR_ADDRESS)
        keys = matching.wake_keys(found)
        return tuple(
            InboxRow(
                tenant=row.tenant,
                id=f"{found.id}{suffix}",
                key=key,
                correlation=correlation_key(found.correlation_id),
                instance_id=found.instance_id,
                type=found.type,
                arrived=now,
                expires=expires,
                payload=work_rows.encoded(found),
            )
            for key, suffix in zip(keys, ("", TWIN), strict=False)
        )

    def _count(self, what: str, found: Stimulus) -> None:
        self.counts[what] += 1
        if telemetry.listeners:
            telemetry.emit(
                "stimulus.settled", stimulus_id=found.id, type=found.type, name=found.event_name, outcome=what
            )

    def ended(self, instance_id: str) -> None:
        """An instance has ended here: what is still kept for it will not be read."""
        if instance_id in self._kept_for:
            self._kept_for.discard(instance_id)
            self._node.uptake.take([unread.looking(self._node.tenant, instance_id, self._node.clock.now())])

    # -- the other side: a burst that parked ---------------------------------------------------------------------------

    def parked(self, marks: Iterable[BookmarkRow]) -> None:
        """These bookmarks are committed: look whether something came before them."""
        self._parked.extend(marks)
        if self._parked and self._looking is None:
            self._looking = asyncio.get_running_loop().create_task(self._look_all(), name="holdfast-inbox")
            self._looking.add_done_callback(self._looked)

    def _looked(self, task: asyncio.Task[None]) -> None:
        self._looking = None
        if not task.cancelled() and (error := task.exception()) is not None:
            self._node.outage.warn("the inbox could not be read; the sweep will look again", because=error)

    async def _look_all(self) -> None:
        while self._parked:
            marks, self._parked = self._parked, []
            await self._look(marks)

    async def _look(self, marks: Sequence[BookmarkRow], *, swept: bool = False) -> None:
        if not marks:
            return
        for mark, rows in zip(marks, await self._node.store.find_inbox(marks), strict=True):
            for row in rows:
                if not await self._take_out(row, mark, swept=swept):
                    break  # The bookmark is used up.

    async def _take_out(self, row: InboxRow, mark: BookmarkRow, *, swept: bool) -> bool:
        """Hand a kept stimulus to a bookmark; False if that is gone. Two who try: one of them uses the row up."""
        found = work_rows.read_kept(row)
        if found.id in self._in_hand:
            return True
        self._in_hand.add(found.id)
        try:
            taken = await self._hand_over(
                mark, work_rows.encoded_input(found), guards=_guards(found), inbox=_ids(found)
            )
        except _GONE:
            return False
        except Declined:
            self._declined.add(found, mark)
            return True
        except PayloadRefused as error:
            await self._refuse_kept(found, error)
            return True
        finally:
            self._in_hand.discard(found.id)
        if taken:
            self._count("swept" if swept else "delivered", found)
        return True

    # -- what others left ----------------------------------------------------------------------------------------------

    async def sweep(self) -> int:
        """Deliver what was left lying beside its bookmark, and let go what expired; how many were delivered."""
        node = self._node
        now = await node.store.now()
        before = self.counts["swept"]
        for row, mark in await node.store.stranded_inbox(PAGE + len(self._declined)):
            fresh = max(row.arrived, mark.created) + SWEEP_AFTER > now
            if row.tenant == node.tenant and not fresh and not self._declined.has(work_rows.read_kept(row), mark):
                await self._take_out(row, mark, swept=True)
        for row in await node.store.expire_inbox(PAGE):
            if not row.id.endswith(TWIN):
                self._count("expired", await note_expired(node, row))
        await tidy(node)
        return self.counts["swept"] - before


def _ids(found: Stimulus) -> tuple[str, ...]:
    return (found.id, f"{found.id}{TWIN}")[: len(matching.wake_keys(found))]


def _guards(found: Stimulus) -> tuple[Guard, ...]:
    """An addressed stimulus with a key is taken once, whatever happens to its row."""
    return (idempotency_key(operation="stimulus", target=found.type, key=found.id),) if found.guarded else ()


def _delivery(row: WorkRow, found: Stimulus, mark: BookmarkRow, payload: bytes) -> WorkRow:
    made = work_rows.resume(
        row.tenant, f"{found.id}>{mark.instance_id}.{mark.seq}", mark.instance_id, f"b{mark.seq}", payload, row.created
    )
    return replace(made, queue=row.queue, priority=row.priority)
