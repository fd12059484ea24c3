"""Deliveries of kept stimuli in quarantine (rule H15): each is a work row of its own, which counts its attempts.

A drain that ends its process leaves no trace in the inbox. So a node in quarantine does not drain: it adds a work row for the
first kept stimulus that the instance can take. The quarantine runs one such row at a time and counts the attempt before. The row
of the next stimulus is added after the answer, so the order stays (rule H16). A stimulus that ended three processes becomes a
dead letter.
"""

from __future__ import annotations

from collections.abc import Collection

from msgspec.structs import replace

from holdfast.model.stored import InstanceKey
from holdfast.model.work import WorkKind, WorkRow, queue_of, tenant_of
from holdfast.ports import Clock, Store
from holdfast.runtime.commits import dead_letters, work_rows
from holdfast.runtime.commits.dead_letters import DeadLetters
from holdfast.runtime.commits.jobs.mail import Letter, MailJob
from holdfast.runtime.commits.spent_rows import SpentRows
from holdfast.runtime.commits.work_rows import Stimulus
from holdfast.runtime.stimuli.delivery import ENDED
from holdfast.runtime.stimuli.mail_drain import PAGE_FIRST, MailDrain, row_ids


class CountedMail:
    def __init__(
        self,
        store: Store,
        clock: Clock,
        queues: Collection[str],
        drain: MailDrain,
        letters: DeadLetters,
        spent: SpentRows,
    ) -> None:
        """`queues` are the stored queue names of this node."""
        self._store = store
        self._clock = clock
        self._queues = queues
        self._drain = drain
        self._letters = letters
        self._spent = spent
        self._passed: dict[InstanceKey, set[str]] = {}
        """Stimuli that the waits of an instance declined since its last delivery."""
        drain.offer = self.offer

    # -- rows ----------------------------------------------------------------------------------------------------------

    async def offer(self, key: InstanceKey) -> None:
        """Add the row of the first kept stimulus that the instance can take, unless it exists."""
        if (head := await self._head(key)) is not None:
            await self._store.enqueue([self._row(key, head[0].found)])

    def _row(self, key: InstanceKey, found: Stimulus) -> WorkRow:
        queue = queue_of(key.tenant)
        if queue not in self._queues:
            queue = next((name for name in self._queues if tenant_of(name) == key.tenant), queue)
        row = work_rows.stimulus(key.tenant, found, self._clock.now(), queue=queue)
        return replace(row, kind=WorkKind.MAIL, id=_row_id(key, found), instance_id=key.id)

    @staticmethod
    def counts(row: WorkRow) -> bool:
        """Whether the row is the delivery of one stimulus to one instance."""
        return row.instance_id is not None and row.id == _row_id(_key_of(row), work_rows.read_stimulus(row))

    # -- delivery ------------------------------------------------------------------------------------------------------

    async def deliver(self, row: WorkRow) -> None:
        """Deliver the stimulus of a row, if it is the first one; then add the row of the next stimulus. The row stays if the
        delivery has to be tried again. Raises an obstacle if this process cannot run the instance: the row is then parked."""
        key, found = _key_of(row), work_rows.read_stimulus(row)
        head = await self._head(key)
        if head is not None and head[0].found.id == found.id:
            if not await self._delivered(key, *head):
                return
            head = await self._head(key)
        if head is not None:
            if head[0].found.id == found.id:
                return
            await self._store.enqueue([self._row(key, head[0].found)])
        await self._spent.delete(row.tenant, row.id)

    async def _delivered(self, key: InstanceKey, letter: Letter, seen: int) -> bool:
        """False if the instance must be looked at again."""
        job = MailJob(key, [letter], seen)
        try:
            await self._drain.hand_over(job, "delivered")
        except ENDED:
            return True  # Nothing fits an instance without bookmarks.
        if job.lost:
            self._drain.forget(key)
            return False
        if not letter.is_open:
            self._passed.pop(key, None)
        elif not job.stale:
            self._passed.setdefault(key, set()).add(letter.found.id)
        return True

    async def _head(self, key: InstanceKey) -> tuple[Letter, int] | None:
        """The first letter that the waits have not declined, and the last bookmark that the inbox was compared with."""
        limit = PAGE_FIRST
        passed = self._passed.get(key, ())
        while True:
            letters, mail = await self._drain.read(key, limit)
            for letter in letters:
                if letter.found.id not in passed:
                    return letter, mail.seen
            if len(mail.rows) < limit:
                self._passed.pop(key, None)
                return None
            limit *= 4

    # -- dead letters --------------------------------------------------------------------------------------------------

    async def bury(self, row: WorkRow, message: str) -> bool:
        """Replace the kept stimulus of a row by a dead letter; False if another commit consumed it first."""
        found = work_rows.read_stimulus(row)
        event = replace(work_rows.stimulus(row.tenant, found, row.created), instance_id=row.instance_id)
        event = replace(event, attempts=row.attempts)
        buried = await self._letters.bury(event, dead_letters.PROCESS_DIED, message, row_ids(found))
        await self.offer(_key_of(row))
        await self._spent.delete(row.tenant, row.id)
        return buried


def _key_of(row: WorkRow) -> InstanceKey:
    assert row.instance_id is not None
    return InstanceKey(row.tenant, row.instance_id)


def _row_id(key: InstanceKey, found: Stimulus) -> str:
    return f"{found.id}>{key.id}"
