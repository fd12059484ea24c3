"""Effects whose node died: a new attempt, a failure or an incident, as `on_lost` says. Inline ones and steps alike.

The row changes hands first, by the store's judgement, so of two nodes that see the same dead one only one goes on. The key of
an effect is (instance, execution) and stays the same for every attempt (rule H3); its inputs are those of its row.
"""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, TypeVar

from msgspec.structs import replace

from holdfast import telemetry
from holdfast.errors import HoldfastError
from holdfast.execution.record import EffectFailure, EffectRequest
from holdfast.management.nodes import read_details
from holdfast.model.cluster import NodeState
from holdfast.model.policy import OnLost
from holdfast.model.stored import InstanceRow
from holdfast.model.work import NO_OWNER, EffectRef, EffectRow
from holdfast.runtime.commits.dead_letters import PROCESS_DIED, letter
from holdfast.runtime.commits.jobs.base import EffectJob, HoldJob, LostJob
from holdfast.runtime.commits.state_codec import decode_state
from holdfast.runtime.commits.work_rows import again_row
from holdfast.runtime.effects.takeover_receipts import ITS_QUEUE, Receipts
from holdfast.runtime.observability.outage_log import AWAY
from holdfast.runtime.service import Rounds
from holdfast.runtime.steps.sender import is_stale
from holdfast.runtime.work_queue.quarantine import CAREFUL_FOR

if TYPE_CHECKING:
    from holdfast.runtime.cluster.node import Node

logger = logging.getLogger("holdfast")
T = TypeVar("T")

LOST_MAX = 3
"""Attempts that may die with their process: the next one has a process for itself, and if it dies of that too, it fails
(rule H15)."""
UNTOLD = 3
"""How many times as many attempts an effect has whose receipts are not kept."""
PAGE = 100
ALONE = 1.0
"""Seconds that one which was lost before has for itself; most take less."""
PATIENCE = 5.0
"""Seconds that a trial waits until nothing else runs here; meanwhile nothing begins."""
IN_TRIAL = 30.0
"""Seconds that one has its process for itself; what was to begin meanwhile begins then."""
GIVES_UP = timedelta(minutes=10)
"""Where something always runs, one that is to be tried alone is tried beside it after so long."""
AT_ONCE = 16
"""Effects of one sweep that are looked after at one time."""
BEGINNING = ("", 0)
FORGET_EVERY = 100
"""Sweeps between two looks for nodes that are long gone."""
FORGET_AFTER = timedelta(days=1)


class Round:
    """Pages of rows that may stay as they are (held, or waiting long): each look goes on behind the last, and from the
    beginning again after the end, so that none stands in the way of the others for ever."""

    def __init__(self) -> None:
        self._after = BEGINNING

    async def next(self, page: Callable[[tuple[str, int]], Awaitable[Sequence[EffectRow]]]) -> list[EffectRow]:
        rows = list(await page(self._after))
        if len(rows) < PAGE and self._after != BEGINNING:
            known = {(row.instance_id, row.execution) for row in rows}
            rows += [row for row in await page(BEGINNING) if (row.instance_id, row.execution) not in known]
            rows = rows[:PAGE]
        self._after = (rows[-1].instance_id, rows[-1].execution) if len(rows) == PAGE else BEGINNING
        return rows


class TakeOver:
    def __init__(self, node: Node) -> None:
        self._node = node
        self._rounds = Rounds(
            "takeover",
            self.sweep,
            lambda: min(node.sweep_every, node.heart.time_to_live / 3),
            "effects of dead nodes could not be taken over",
            node.outage,
        )
        self._sweeps = 0
        self._lost, self._waiting = Round(), Round()
        self._receipts = Receipts(node)
        self._waiting_for: dict[tuple[str, int], float] = {}
        """Since when those wait that are to be tried alone."""

    # -- all the time --------------------------------------------------------------------------------------------------

    def start(self) -> None:
        self._rounds.start()

    async def stop(self) -> None:
        await self._rounds.stop()

    async def sweep(self) -> int:
        """Take over what dead nodes left of any instance of this tenant; how many."""
        node = self._node
        if not node.heart.may_start_effects:
            return 0
        now = await node.store.now()
        await self._look_around(now)
        self._sweeps += 1
        if self._sweeps % FORGET_EVERY == 0:
            await node.store.forget_nodes(now - FORGET_AFTER)
        taken = await self._take_lost()
        waiting = await self._waiting.next(lambda after: node.store.waiting_effects(node.tenant, now, PAGE, after))
        # Given back by a node that was stopped, or imported: inline ones wait for nobody but us.
        free = [row for row in waiting if not row.queue]
        taken += sum(map(bool, await self._each(free, self.take)))
        await self._each([row for row in waiting if is_stale(row, now)], self._send_again)
        return taken + await self._pick_up_own()

    async def _take_lost(self) -> int:
        """Page by page, as long as that helps: a node may leave more than one."""
        node, taken = self._node, 0
        while True:
            lost = await self._lost.next(lambda after: node.store.lost_effects(node.tenant, PAGE, after))
            suspects = [row for row in lost if row.attempt > 1 and not row.queue]
            moved = sum(map(bool, await self._each([row for row in lost if row not in suspects], self.take)))
            moved += await self._one_by_one(suspects)
            taken += moved
            if len(lost) < PAGE or not moved or not node.heart.may_start_effects:
                return taken

    async def _one_by_one(self, suspects: list[EffectRow]) -> int:
        """What was lost before may be what its processes died of: the next waits for its end, for a while, or dies with it. In
        no order: where processes die of something else, the first would be lost each time."""
        random.shuffle(suspects)
        taken = 0
        for row in suspects:
            if row.attempt > LOST_MAX and await self._safely(row, self._must_be_alone):
                taken += bool(await self._safely(row, self._try_alone))
            elif await self._safely(row, self.take):
                taken += 1
                with suppress(TimeoutError):
                    async with asyncio.timeout(ALONE):
                        await self._node.effects.ended(row.instance_id, row.execution)
        return taken

    async def _must_be_alone(self, row: EffectRow) -> bool:
        """Whether it would be the next time that it fails, though others shared its process each time."""
        lost, request = await self._lost_before(row)
        if request is None or lost <= LOST_MAX or lost > LOST_MAX * UNTOLD:
            return False
        begun, was_alone = await self._receipts.begun_since(replace(row, attempt=row.attempt + 1), request.attempt)
        return begun + 1 > LOST_MAX and not was_alone

    async def _try_alone(self, row: EffectRow, *, patient: bool = True) -> bool:
        """What runs here may be what kills: it must have ended, and nothing begins beside this one for a while. What does not
        end here may end, or be tried, elsewhere: then it is left."""
        node, key = self._node, (row.instance_id, row.execution)
        since = self._waiting_for.setdefault(key, time.monotonic())
        async with node.effects.alone(key, PATIENCE) as is_free:
            too_long = not patient or time.monotonic() - since >= GIVES_UP.total_seconds()
            if not (is_free or too_long) or not await self.take(row, alone=is_free):
                return False
            self._waiting_for.pop(key, None)
            with suppress(TimeoutError):
                async with asyncio.timeout(IN_TRIAL if patient else 0):
                    await node.effects.ended(*key)
        return True

    async def _lost_before(self, row: EffectRow) -> tuple[int, EffectRequest | None]:
        """How often it would have been lost, counted from the attempt that its state holds."""
        node = self._node
        stored, values = await node.state(row.instance_id)
        plan = await node.pins.plan(stored.content)
        request = decode_state(stored.state, plan, node.clock.now_ns, node.services, values).effects.get(row.execution)
        return (0, None) if request is None else (row.attempt + 1 - request.attempt, request)

    async def _send_again(self, row: EffectRow) -> None:
        await self._receipts.complete(row)
        self._node.steps.resend(row)

    async def _each(self, rows: Sequence[EffectRow], work: Callable[[EffectRow], Awaitable[T]]) -> list[T | None]:
        """Some at a time: what hundreds of effects wait for is mostly the store, and it answers many at once."""
        places = asyncio.Semaphore(AT_ONCE)

        async def one(row: EffectRow) -> T | None:
            async with places:
                return await self._safely(row, work)

        try:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(one(row)) for row in rows]
        except ExceptionGroup as failed:
            raise failed.exceptions[0] from None
        return [task.result() for task in tasks]

    @staticmethod
    async def _safely(row: EffectRow, work: Callable[[EffectRow], Awaitable[T]]) -> T | None:
        """One that cannot be helped now (its code is not here) does not keep the others from it."""
        try:
            return await work(row)
        except AWAY:
            raise
        except HoldfastError:
            logger.warning("an effect of instance %s could not be looked after", row.instance_id, exc_info=True)
            return None

    async def _look_around(self, now: datetime) -> None:
        """A node of this tenant that died within the last minute: perhaps of work that is now ours (rule H15)."""
        node = self._node
        for other in await node.store.list_nodes():
            gone = other.heartbeat + other.time_to_live
            died = other.state is not NodeState.LEFT and gone <= now < gone + CAREFUL_FOR
            if died and other.id != node.name and read_details(other.details).serves(node.tenant):
                node.gate.be_careful()

    async def _pick_up_own(self) -> int:
        """Effects that are this node's and that it does not run: it took them over, and then the store did not answer.

        Looked at before and after the read, since a commit or a result may be under way.
        """
        idle = await self._idle_own()
        again = [row for row in await self._idle_own() if row in idle] if idle else []
        await self._each(again, self.adopt)
        return len(again)

    async def _idle_own(self) -> list[EffectRow]:
        node = self._node
        rows = await node.store.effects_owned(node.owner)
        return [row for row in rows if row.tenant == node.tenant and not node.works_on(row.instance_id)]

    # -- one instance --------------------------------------------------------------------------------------------------

    async def recover(self, instance_id: str) -> int:
        """The same for one instance."""
        return sum([await self._take_one(row) for row in await self._left_of(instance_id)])

    async def held(self, instance_id: str) -> list[EffectRow]:
        """Those that wait for somebody's word, whether an incident tells of them yet or not."""
        lost = [row for row in await self._left_of(instance_id) if row.on_lost == OnLost.HOLD]
        return [row for row in lost if row.owner != NO_OWNER or not row.queue]  # Else it waits for a worker.

    async def _left_of(self, instance_id: str) -> list[EffectRow]:
        """Rows of this instance that nobody alive has."""
        node = self._node
        now = await node.store.now()
        alive = {item.owner for item in await node.store.list_nodes() if item.alive_at(now)}
        return [row for row in await node.store.effects_of(node.tenant, instance_id) if row.owner not in alive]

    async def _take_one(self, row: EffectRow) -> bool:
        """Somebody asked for it: it is not left because something else runs here."""
        if row.owner == NO_OWNER or row.queue or not await self._must_be_alone(row):
            return await self.take(row)
        return await self._try_alone(row, patient=False)

    async def take(self, row: EffectRow, *, alone: bool = False) -> bool:
        node = self._node
        if row.on_lost == OnLost.HOLD:
            node.submit(HoldJob(row.instance_id, row.execution, row.owner.node))
            return False
        counted = 0 if row.owner == NO_OWNER else 1  # An attempt that was given back does not count.
        # A step goes back to its queue: not every node serves it.
        back = row.queue and row.on_lost != OnLost.FAIL and row.owner != NO_OWNER
        new = EffectRef(row.execution, row.attempt + counted, NO_OWNER if back else node.owner)
        if not back:  # Who lacks the code leaves it to others (rule H10).
            await node.pins.plan((await node.row(row.instance_id)).content)
        node.hold(row.instance_id)  # It is in hand from here on, though no lane knows of it yet.
        try:
            moved = await node.store.move_effect(node.tenant, row.instance_id, row.ref, new)
            if moved is None:
                return False
            if counted:
                by = ITS_QUEUE if back else node.name
                await self._receipts.write(moved, died=row.owner.node, by=by, alone=alone)
            if row.on_lost == OnLost.FAIL:
                self._fail(
                    moved, f"Node '{row.owner.node}' died while it ran, and it is not run again (on_lost: fail)."
                )
            elif back:
                node.steps.resend(moved)
            else:
                await self.adopt(moved)
            if counted and telemetry.listeners:
                telemetry.emit(
                    "effect.taken_over",
                    instance_id=row.instance_id,
                    activity_id=row.activity_id,
                    attempt=moved.attempt,
                    node=row.owner.node,
                )
        finally:
            node.let_go(row.instance_id)
        return True

    def _fail(self, row: EffectRow, message: str) -> None:
        self._node.submit(
            EffectJob(row.instance_id, row.ref, EffectFailure(type="EffectLost", message=message, cause="lost"))
        )

    async def _bury(self, row: EffectRow) -> None:
        """It ended its process too often: it fails, and a dead letter stands for trying it again."""
        message = (
            f"'{row.activity_id}' has ended its process {LOST_MAX} times. Mend it, then retry or replay its letter."
        )
        failed = EffectFailure(type="EffectLost", message=message, cause="lost")
        now = await self._node.store.now()
        left = letter(again_row(row, now), PROCESS_DIED, now, message)
        logger.error("an effect of instance %s is a dead letter: '%s' ends processes", row.instance_id, row.activity_id)
        self._node.submit(LostJob(row.instance_id, row.ref, failed, left))

    async def adopt(self, row: EffectRow) -> None:
        """Run an effect that is this node's now.

        By the state in hand, if that is the one which recorded this attempt: the row is what counts, and of the state only
        what the effect was called with is used. Else by the stored one.
        """
        node, hot = self._node, self._node.hot.get(row.instance_id)
        if hot is not None and await self._run_by(row, hot, await node.values_of(hot), recorded=True):
            return
        stored, values = await node.state(row.instance_id)
        await self._run_by(row, stored, values)

    async def _run_by(
        self, row: EffectRow, stored: InstanceRow, values: Mapping[str, bytes], *, recorded: bool = False
    ) -> bool:
        """With `recorded` only the attempt that this state holds; whether there is nothing left to do."""
        node = self._node
        plan = await node.pins.plan(stored.content)
        live = decode_state(stored.state, plan, node.clock.now_ns, node.services, values)
        request = live.effects.get(row.execution)
        if recorded and (request is None or request.attempt != row.attempt):
            return False
        if request is None or node.effects.has(row.instance_id, row.execution):
            return True  # Canceled between the two reads, its row is gone; or begun meanwhile.
        if await self._ends_processes(row, row.attempt - request.attempt):
            await self._bury(replace(row, activity_id=request.activity_id))  # It may have migrated since.
            return True
        request.attempt = live.waiters[row.execution].attempt = row.attempt
        live.new_effects, live.canceled_effects = [], []
        node.effects.run(live, request)
        return True

    async def _ends_processes(self, row: EffectRow, lost: int) -> bool:
        """Nodes that died between taking it and running it died of something else. Without a journal nobody can tell: then
        the number of attempts decides in the end."""
        if lost <= LOST_MAX:
            return False
        if lost > LOST_MAX * UNTOLD:
            return True
        begun, was_alone = await self._receipts.begun_since(row, row.attempt - lost)
        return begun > LOST_MAX and was_alone
